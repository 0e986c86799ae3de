import { NCard, NCollapse, NCollapseItem, NDataTable, NList, NListItem } from 'naive-ui';
import { createApp, h, onMounted, ref } from 'vue';
import { getNotes, getThreads, root } from '../page.js';

createApp({
  setup() {
    const [threads, notes] = [ref([]), ref([])];
    onMounted(async () => { threads.value = await getThreads(); notes.value = await getNotes(); });
    return () => [
      h(NDataTable, { data: threads.value, columns: ['name', 'note'].map((key) => ({ title: key, key })) }),
      h(NList, () => notes.value.map((note) => h(NListItem, () => note.text))),
      h(NCard, { title: 'A card' }, () => 'It was pressed between two boards for a week.'),
      h(NCollapse, { defaultExpandedNames: ['1'] }, () => h(NCollapseItem, { name: '1', title: 'Below' }, () => 'The river, always the river.')),
    ];
  },
}).mount(root());
