import { createApp } from 'vue';
import Store from './Store.vue';

createApp(Store).mount('#root');
