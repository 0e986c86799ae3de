import { InView } from 'react-intersection-observer';
import { show, useThreads } from '../react.jsx';

function Page() { return useThreads().map((thread) => <InView key={thread.id} triggerOnce>{({ inView, ref }) => <section ref={ref}>{inView ? <p>{thread.name}: {thread.note}</p> : <p>Not seen yet</p>}</section>}</InView>); }
show(<Page />);
