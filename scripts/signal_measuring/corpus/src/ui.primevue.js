import Card from 'primevue/card';
import Column from 'primevue/column';
import PrimeVue from 'primevue/config';
import DataTable from 'primevue/datatable';
import Panel from 'primevue/panel';
import { createApp, h, onMounted, ref } from 'vue';
import { getNotes, getThreads, root } from '../page.js';

createApp({
  setup() {
    const [threads, notes] = [ref([]), ref([])];
    onMounted(async () => { threads.value = await getThreads(); notes.value = await getNotes(); });
    return () => [
      h(DataTable, { value: threads.value }, () => ['name', 'note', 'metres'].map((field) => h(Column, { field, header: field }))),
      notes.value.map((note) => h(Card, null, { title: () => note.title, content: () => note.text })),
      h(Panel, { header: 'Panel' }, () => 'Oak, planed on one side and left as it grew on the other.'),
    ];
  },
}).use(PrimeVue, { unstyled: true }).mount(root());
