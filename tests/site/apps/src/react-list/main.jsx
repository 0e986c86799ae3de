import { Suspense, use, useMemo, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { getThreads, price } from '../shared/data.js';

const loading = getThreads();

function Shelf({ order }) {
  const threads = use(loading);
  const sorted = useMemo(() => [...threads].sort((one, other) => one[order] > other[order] ? 1 : -1), [threads, order]);
  return (
    <ul>
      {sorted.map((thread) => (
        <li key={thread.id}><h2>{thread.name}</h2><p>{thread.note}</p><b>{price(thread.cents)}</b></li>
      ))}
    </ul>
  );
}

function Shop() {
  const [order, setOrder] = useState('name');
  return (
    <main>
      <h1>The thread shop</h1>
      <p>Everything on this shelf was dyed in the cellar of the mill and wound on cones of one pound.</p>
      <button type="button" onClick={() => setOrder('cents')}>Sort by price</button>
      <Suspense fallback={<p>The shelf is being filled</p>}><Shelf order={order} /></Suspense>
    </main>
  );
}

createRoot(document.getElementById('root')).render(<Shop />);
