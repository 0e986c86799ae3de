import { proxy, useSnapshot } from 'valtio';
import { getThreads, show } from '../react.jsx';

const state = proxy({ threads: [] });
const Page = () => useSnapshot(state).threads.map((thread) => <p key={thread.id}>{thread.name}: {thread.note}</p>);
show(<Page />);
getThreads().then((found) => { state.threads = found; });
