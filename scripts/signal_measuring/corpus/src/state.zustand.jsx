import { create } from 'zustand';
import { persist } from 'zustand/middleware';
import { getThreads, show } from '../react.jsx';

const useShelf = create(persist((set) => ({ threads: [], load: async () => set({ threads: await getThreads() }) }), { name: 'shelf' }));
const Page = () => useShelf((state) => state.threads).map((thread) => <p key={thread.id}>{thread.name}: {thread.note}</p>);
show(<Page />);
useShelf.getState().load();
