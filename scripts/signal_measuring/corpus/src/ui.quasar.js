import { QCard, QCardSection, QItem, QItemLabel, QItemSection, QLayout, QList, QPage, QPageContainer, QTable, Quasar } from 'quasar';
import { createApp, h, onMounted, ref } from 'vue';
import { getNotes, getThreads, root } from '../page.js';

createApp({
  setup() {
    const [threads, notes] = [ref([]), ref([])];
    onMounted(async () => { threads.value = await getThreads(); notes.value = await getNotes(); });
    return () => h(QLayout, () => h(QPageContainer, () => h(QPage, () => [
      h(QTable, { title: 'Stock', rows: threads.value, rowKey: 'id', pagination: { rowsPerPage: 0 }, columns: ['name', 'stuff', 'metres'].map((name) => ({ name, label: name, field: name })) }),
      h(QList, () => threads.value.map((thread) => h(QItem, () => h(QItemSection, () => h(QItemLabel, () => thread.note))))),
      notes.value.map((note) => h(QCard, () => h(QCardSection, () => note.text))),
    ])));
  },
}).use(Quasar).mount(root());
