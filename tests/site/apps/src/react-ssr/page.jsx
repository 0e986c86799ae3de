import { useEffect, useState } from 'react';
import { getThreads, price } from '../shared/data.js';

export function Page() {
  const [threads, setThreads] = useState(null);
  useEffect(() => void getThreads().then(setThreads), []);
  return (
    <main>
      <h1>How a warp is wound</h1>
      <p>A warp begins on the board: the weaver counts the ends, crosses them by hand, and ties each cross before it leaves the pegs.</p>
      <p>Whoever skips the tie will meet the same threads again, one by one, on the floor beneath the loom.</p>
      {threads === null
        ? <p>The threads that suit a first warp are being looked up</p>
        : <ol>{threads.map((thread) => <li key={thread.id}>{thread.name}, {thread.stuff}, {price(thread.cents)}: {thread.note}</li>)}</ol>}
    </main>
  );
}
