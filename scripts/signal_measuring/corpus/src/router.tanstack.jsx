import { createRootRoute, createRoute, createRouter, Link, Outlet, RouterProvider } from '@tanstack/react-router';
import { getNotes, getThreads, show } from '../react.jsx';

const top = createRootRoute({ component: () => <><Link to="/">Home</Link> <Outlet /></> });
const home = createRoute({ getParentRoute: () => top, path: '/', loader: async () => ({ threads: await getThreads(), notes: await getNotes() }), component: () => {
  const { threads, notes } = home.useLoaderData();
  return <main>{threads.map((thread) => <p key={thread.id}>{thread.name}: {thread.note}</p>)}{notes.map((note) => <h2 key={note.title}>{note.title}</h2>)}</main>;
} });
show(<RouterProvider router={createRouter({ routeTree: top.addChildren([home]), basepath: '/corpus/router.tanstack' })} />);
