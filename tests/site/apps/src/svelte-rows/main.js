import { mount } from 'svelte';
import Store from './Store.svelte';

mount(Store, { target: document.getElementById('root') });
