import { InView } from 'react-intersection-observer';
import { show, useThreads } from '../react.jsx';

function Page() { return useThreads().map((thread) => <InView key={thread.id} triggerOnce>{({ inView, ref }) => <section ref={ref} style={{ minHeight: 900 }}><h2>{thread.name}</h2>{inView ? <p>{thread.note}</p> : null}</section>}</InView>); }
show(<Page />);
