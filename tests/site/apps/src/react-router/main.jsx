import { createRoot } from 'react-dom/client';
import { createBrowserRouter, Link, Outlet, RouterProvider, useLoaderData } from 'react-router';
import { getNotes, getThread, getThreads, price } from '../shared/data.js';

const Frame = () => (
  <>
    <nav><Link to="/">Threads</Link> <Link to="/notes">Notes of the mill</Link></nav>
    <main><Outlet /></main>
    <footer>Written by those who stand at the looms, and corrected by nobody else.</footer>
  </>
);

function Threads() {
  const threads = useLoaderData();
  return (
    <>
      <h1>All threads</h1>
      <table><tbody>{threads.map((thread) => (
        <tr key={thread.id}><td><Link to={`/threads/${thread.id}`}>{thread.name}</Link></td><td>{thread.stuff}</td><td>{price(thread.cents)}</td><td>{thread.note}</td></tr>
      ))}</tbody></table>
    </>
  );
}

function Thread() {
  const thread = useLoaderData();
  return <article><h1>{thread.name}</h1><p>{thread.note}</p><p>{thread.metres} metres of {thread.stuff} at {price(thread.cents)}</p></article>;
}

function Notes() {
  return useLoaderData().map((note) => <article key={note.title}><h2>{note.title}</h2><p>{note.text}</p></article>);
}

const router = createBrowserRouter([{
  path: '/',
  element: <Frame />,
  HydrateFallback: () => <p>One moment</p>,
  children: [
    { index: true, loader: getThreads, element: <Threads /> },
    { path: 'threads/:id', loader: ({ params }) => getThread(params.id), element: <Thread /> },
    { path: 'notes', loader: getNotes, element: <Notes /> },
  ],
}], { basename: '/apps/react-router' });

createRoot(document.getElementById('root')).render(<RouterProvider router={router} />);
