import { createApp, h, onMounted, ref } from 'vue';
import { createVuetify } from 'vuetify';
import { VApp, VCard, VCardText, VCardTitle, VList, VListItem, VListItemSubtitle, VListItemTitle, VMain, VTable } from 'vuetify/components';
import { getNotes, getThreads, root } from '../page.js';

createApp({
  setup() {
    const [threads, notes] = [ref([]), ref([])];
    onMounted(async () => { threads.value = await getThreads(); notes.value = await getNotes(); });
    return () => h(VApp, () => h(VMain, () => [
      h(VList, () => threads.value.map((thread) => h(VListItem, () => [h(VListItemTitle, () => thread.name), h(VListItemSubtitle, () => thread.note)]))),
      notes.value.map((note) => h(VCard, () => [h(VCardTitle, () => note.title), h(VCardText, () => note.text)])),
      h(VTable, () => h('tbody', threads.value.map((thread) => h('tr', [h('td', thread.stuff), h('td', thread.metres)])))),
    ]));
  },
}).use(createVuetify()).mount(root());
