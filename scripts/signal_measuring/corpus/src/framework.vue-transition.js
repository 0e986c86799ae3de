import { createApp, h, onMounted, ref, Teleport, Transition, TransitionGroup } from 'vue';
import { getThreads, root } from '../page.js';

createApp({
  setup() {
    const [threads, step] = [ref([]), ref(0)];
    onMounted(async () => { threads.value = await getThreads(); step.value = 1; });
    return () => [
      h(TransitionGroup, { tag: 'ul', name: 'move' }, () => threads.value.map((thread) => h('li', { key: thread.id }, `${thread.name}: ${thread.note}`))),
      h(Transition, { mode: 'out-in', duration: 100 }, () => h('p', { key: step.value }, step.value ? 'The second sentence has taken the place of the first.' : 'The first sentence waits.')),
      h(Teleport, { to: 'body' }, h('aside', 'A word at the door, far from where it was written.')),
    ];
  },
}).mount(root());
