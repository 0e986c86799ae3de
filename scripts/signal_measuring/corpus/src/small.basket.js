import { createApp, h, ref } from 'vue';
import { root } from '../page.js';

createApp({ setup() { const things = ref([]); return () => h('main', [h('h1', 'Your basket'), things.value.length ? null : h('p', 'Your basket is empty. Have a look at what is new on the shelf.'), h('a', { href: '/' }, 'To the shelf')]); } }).mount(root());
