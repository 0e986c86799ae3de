import { A, Route, Router } from '@solidjs/router';
import { createResource, For } from 'solid-js';
import { render } from 'solid-js/web';
import { getThreads, root } from '../page.js';

const Home = () => { const [threads] = createResource(getThreads); return <><A href="/notes">Notes</A><For each={threads()}>{(thread) => <p>{thread.name}: {thread.note}</p>}</For></>; };
render(() => <Router base="/corpus/router.solid"><Route path="/" component={Home} /></Router>, root());
