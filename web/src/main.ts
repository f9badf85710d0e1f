import './style/index.css';
import { mount } from 'svelte';
import App from './App.svelte';
import { connection } from './api/connection.svelte';
import { removeStored, takeFromAddress } from './api/secret';

removeStored();
connection.start(takeFromAddress());
mount(App, { target: document.getElementById('app') as HTMLElement });
