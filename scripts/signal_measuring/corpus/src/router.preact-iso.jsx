/** @jsxImportSource preact */
import { hydrate, lazy, LocationProvider, Route, Router } from 'preact-iso';
import { useEffect, useState } from 'preact/hooks';
import { getThreads, root } from '../page.js';

const Home = () => { const [threads, set] = useState([]); useEffect(() => void getThreads().then(set), []); return <main>{threads.map((thread) => <p key={thread.id}>{thread.name}: {thread.note}</p>)}</main>; };
hydrate(<LocationProvider><Router><Route default component={Home} /></Router></LocationProvider>, root());
