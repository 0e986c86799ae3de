import { QueryClient, QueryClientProvider, useQuery } from '@tanstack/react-query';
import { lazy, Suspense } from 'react';
import { createRoot } from 'react-dom/client';
import { getNotes, getThread } from '../shared/data.js';

const Prices = lazy(() => import('./prices.jsx'));

function Notes() {
  const { data: notes, isPending } = useQuery({ queryKey: ['notes'], queryFn: getNotes });
  const first = useQuery({ queryKey: ['thread', 1], queryFn: () => getThread(1), enabled: !isPending });
  if (isPending || first.isPending) return <p>Reading the notes</p>;
  return (
    <>
      <p>The thread of the week is {first.data.name}: {first.data.note}</p>
      {notes.map((note) => <section key={note.title}><h2>{note.title}</h2><p>{note.text}</p></section>)}
    </>
  );
}

createRoot(document.getElementById('root')).render(
  <QueryClientProvider client={new QueryClient()}>
    <h1>Notes of the mill</h1>
    <Notes />
    <Suspense fallback={<p>The prices follow</p>}><Prices /></Suspense>
  </QueryClientProvider>,
);
