import LazyLoad from 'react-lazyload';
import { show, useThreads } from '../react.jsx';

function Page() { return useThreads().map((thread) => <LazyLoad key={thread.id} height={300} once><p style={{ height: 300 }}>{thread.name}: {thread.note}</p></LazyLoad>); }
show(<Page />);
