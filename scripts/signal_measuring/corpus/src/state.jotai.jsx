import { atom, useAtomValue } from 'jotai';
import { Suspense } from 'react';
import { getThreads, show } from '../react.jsx';

const threads = atom(getThreads);
const metres = atom(async (get) => (await get(threads)).reduce((sum, thread) => sum + thread.metres, 0));
const Page = () => <>{useAtomValue(threads).map((thread) => <p key={thread.id}>{thread.name}: {thread.note}</p>)}<b>{useAtomValue(metres)}</b></>;
show(<Suspense fallback="One moment"><Page /></Suspense>);
