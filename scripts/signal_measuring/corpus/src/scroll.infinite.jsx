import { useEffect, useState } from 'react';
import InfiniteScroll from 'react-infinite-scroll-component';
import { getThreads, show } from '../react.jsx';

function Page() {
  const [threads, set] = useState([]);
  const more = () => getThreads().then((found) => set((all) => [...all, ...found]));
  useEffect(() => void more(), []);
  return <InfiniteScroll dataLength={threads.length} next={more} hasMore={threads.length < 32} loader={<p>More is coming</p>}>{threads.map((thread, index) => <p key={index} style={{ height: 200 }}>{index} {thread.name}: {thread.note}</p>)}</InfiniteScroll>;
}
show(<Page />);
