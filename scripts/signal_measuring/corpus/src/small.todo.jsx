import { create } from 'zustand';
import { show } from '../react.jsx';

const useList = create(() => ({ list: ['Oil the shafts', 'Count the reeds', 'Feed the cat'] }));
function Page() { const list = useList((state) => state.list); return <><h1>Today</h1><ul>{list.map((line) => <li key={line}>{line}</li>)}</ul><p>{list.length} left</p></>; }
show(<Page />);
