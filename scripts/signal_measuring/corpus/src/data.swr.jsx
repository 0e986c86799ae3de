import useSWR from 'swr';
import { show } from '../react.jsx';

const read = (path) => fetch(path).then((answer) => answer.json());
function Page() { const { data = [], isLoading } = useSWR('/apps/api/threads', read); return isLoading ? <p>Asking</p> : data.map((thread) => <p key={thread.id}>{thread.name}: {thread.note}</p>); }
show(<Page />);
