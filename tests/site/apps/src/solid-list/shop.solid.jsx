import { createMemo, createResource, For, Show, Suspense } from 'solid-js';
import { render } from 'solid-js/web';
import { getThreads, price } from '../shared/data.js';

function Shop() {
  const [threads] = createResource(getThreads);
  const cheapest = createMemo(() => threads()?.reduce((one, other) => (one.cents < other.cents ? one : other)));
  return (
    <main>
      <h1>The remnant box</h1>
      <p>Short lengths end up in this box, and children may take from it whatever fits into one hand.</p>
      <Suspense fallback={<p>The lid is being lifted</p>}>
        <For each={threads()}>{(thread) => <p>{thread.name}: {thread.note} <i>{price(thread.cents)}</i></p>}</For>
        <Show when={cheapest()}>{(thread) => <footer>The cheapest today is {thread().name}.</footer>}</Show>
      </Suspense>
    </main>
  );
}

render(() => <Shop />, document.getElementById('root'));
