import ElementPlus, { ElCard, ElCollapse, ElCollapseItem, ElTable, ElTableColumn, ElTag, ElTimeline, ElTimelineItem } from 'element-plus';
import { createApp, h, onMounted, ref } from 'vue';
import { getNotes, getThreads, root } from '../page.js';

createApp({
  setup() {
    const [threads, notes] = [ref([]), ref([])];
    onMounted(async () => { threads.value = await getThreads(); notes.value = await getNotes(); });
    return () => [
      h('h1', 'Elements of weaving'),
      h(ElTable, { data: threads.value }, () => ['name', 'stuff', 'note'].map((prop) => h(ElTableColumn, { prop, label: prop }))),
      h(ElTimeline, () => notes.value.map((note) => h(ElTimelineItem, { timestamp: note.title }, () => note.text))),
      h(ElCard, { header: 'Marks' }, () => threads.value.map((thread) => h(ElTag, () => thread.name))),
      h(ElCollapse, { modelValue: ['1'] }, () => h(ElCollapseItem, { name: '1', title: 'The end' }, () => 'Whoever reads on to here has time.')),
    ];
  },
}).use(ElementPlus).mount(root());
