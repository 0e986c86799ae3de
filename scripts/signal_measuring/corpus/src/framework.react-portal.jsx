import { Activity, startTransition, useDeferredValue, useEffect, useId, useLayoutEffect, useRef, useState } from 'react';
import { createPortal } from 'react-dom';
import { getThreads, show } from '../react.jsx';

function Page() {
  const [threads, set] = useState([]);
  const [wide, setWide] = useState('not measured');
  const line = useRef(null);
  useEffect(() => void getThreads().then((found) => startTransition(() => set(found))), []);
  useLayoutEffect(() => setWide(line.current.offsetWidth >= 0 ? 'measured' : 'lost'), []);
  const late = useDeferredValue(threads);
  return <><h1 id={useId()} ref={line}>Portal, {wide}</h1><Activity mode="visible">{late.map((thread) => <p key={thread.id}>{thread.name}: {thread.note}</p>)}</Activity>{createPortal(<aside>Put outside of the root, for whoever looks there.</aside>, document.body)}</>;
}
show(<Page />);
