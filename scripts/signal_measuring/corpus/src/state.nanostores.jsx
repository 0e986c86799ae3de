import { useStore } from '@nanostores/react';
import { atom, computed } from 'nanostores';
import { getThreads, show } from '../react.jsx';

const threads = atom([]);
const names = computed(threads, (all) => all.map(({ name }) => name).join(', '));
const Page = () => <><h1>{useStore(names)}</h1>{useStore(threads).map((thread) => <p key={thread.id}>{thread.note}</p>)}</>;
show(<Page />);
getThreads().then((found) => threads.set(found));
