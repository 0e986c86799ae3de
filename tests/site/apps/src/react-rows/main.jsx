import { useState } from 'react';
import { flushSync } from 'react-dom';
import { createRoot } from 'react-dom/client';
import { START, key, onRows } from '../shared/rows.js';

function Row({ item }) {
  return (
    <li className="row">
      <strong>{item.name}</strong> <span>{item.note}</span>
      <label><input className="tick" type="checkbox" checked={item.ready} onChange={() => {}} /> Ready</label>
      <button type="button" className="used">Used {item.used} times</button>
      <button type="button" className="remove">Remove</button>
    </li>
  );
}

function Store() {
  const [state, setState] = useState(START);
  onRows((next) => flushSync(() => setState(next)));
  return (
    <main>
      <h1>The store room</h1>
      <input className="filter" placeholder="Filter" />
      <select className="order" aria-label="Order"><option>Name</option><option>Use</option></select>
      <ul>{state.items.map((item, index) => <Row key={key(state, item, index)} item={item} />)}</ul>
      <button type="button" className="add">Add</button>
    </main>
  );
}

createRoot(document.getElementById('root')).render(<Store />);
