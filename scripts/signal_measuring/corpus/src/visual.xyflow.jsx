import { ReactFlow } from '@xyflow/react';
import { show, useThreads } from '../react.jsx';

function Page() { const threads = useThreads(); return <><h1>Who hangs on whom</h1><div style={{ width: 800, height: 600 }}>{threads.length ? <ReactFlow nodes={threads.map((thread) => ({ id: String(thread.id), position: { x: 0, y: thread.id * 60 }, data: { label: `${thread.name}: ${thread.note}` } }))} edges={[]} /> : null}</div></>; }
show(<Page />);
