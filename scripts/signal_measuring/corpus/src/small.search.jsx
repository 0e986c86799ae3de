import { useDeferredValue, useState } from 'react';
import { show, useThreads } from '../react.jsx';

function Page() { const [text, set] = useState('moss'); const wanted = useDeferredValue(text); const found = useThreads().filter(({ name }) => name.toLowerCase().includes(wanted)); return <><h1>Look for a colour</h1><input value={text} onChange={(event) => set(event.target.value)} /><p>{found.length} found</p>{found.map(({ id, note }) => <p key={id}>{note}</p>)}</>; }
show(<Page />);
