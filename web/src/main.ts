import './style/index.css';
import { mount } from 'svelte';
import App from './App.svelte';
import { connection } from './api/connection.svelte';
import { removeOldToken, takeTokenFromAddress } from './api/token';

removeOldToken();
connection.start(takeTokenFromAddress());
mount(App, { target: document.getElementById('app') as HTMLElement });
