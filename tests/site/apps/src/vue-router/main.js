import { createPinia } from 'pinia';
import { createApp } from 'vue';
import { createRouter, createWebHistory } from 'vue-router';
import App from './App.vue';

const routes = [
  { path: '/', component: () => import('./Notes.vue') },
  { path: '/threads/:id', component: () => import('./Thread.vue'), props: true },
];
const router = createRouter({ history: createWebHistory('/apps/vue-router'), routes });
createApp(App).use(createPinia()).use(router).mount('#root');
