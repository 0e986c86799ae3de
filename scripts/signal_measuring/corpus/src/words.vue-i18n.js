import { createApp, h, onMounted, ref } from 'vue';
import { createI18n, useI18n } from 'vue-i18n';
import { getThreads, root } from '../page.js';

const i18n = createI18n({ legacy: false, locale: 'en', messages: { en: { line: '{name} costs {price}', kinds: 'no kind | one kind | {count} kinds' } } });
createApp({ setup() { const { t, n } = useI18n(); const threads = ref([]); onMounted(async () => { threads.value = await getThreads(); }); return () => [h('h1', t('kinds', threads.value.length)), threads.value.map((thread) => h('p', `${t('line', { name: thread.name, price: n(thread.cents / 100) })} ${thread.note}`))]; } }).use(i18n).mount(root());
