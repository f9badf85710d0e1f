import './style/index.css';
import { mount } from 'svelte';
import App from './App.svelte';
import { takeFromAddress } from './api/token';

takeFromAddress();
mount(App, { target: document.getElementById('app') as HTMLElement });
