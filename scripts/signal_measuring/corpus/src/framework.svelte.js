import { mount } from 'svelte';
import { root } from '../page.js';
import Page from '../Page.svelte';

mount(Page, { target: root() });
