/** @jsxImportSource preact */
import { computed, signal } from '@preact/signals';
import { render } from 'preact';
import { useEffect } from 'preact/hooks';
import { getThreads, price } from '../shared/data.js';

const threads = signal([]);
const metres = computed(() => threads.value.reduce((sum, thread) => sum + thread.metres, 0));

function Shop() {
  useEffect(() => void getThreads().then((found) => { threads.value = found; }), []);
  return (
    <main>
      <h1>Weigh house</h1>
      <p>Here each cone is weighed once more, because the damp of the river adds what the buyer should not pay.</p>
      {threads.value.map((thread) => <p key={thread.id}><b>{thread.name}</b> {thread.note} {price(thread.cents)}</p>)}
      <footer>{metres} metres in all</footer>
    </main>
  );
}

render(<Shop />, document.getElementById('root'));
