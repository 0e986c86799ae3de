import { useVirtualizer } from '@tanstack/react-virtual';
import { useRef } from 'react';
import { show, useThreads } from '../react.jsx';

function Page() {
  const threads = useThreads();
  const parent = useRef(null);
  const rows = useVirtualizer({ count: threads.length * 50, getScrollElement: () => parent.current, estimateSize: () => 40 });
  return <><h1>A long list, seen through a slit</h1><div ref={parent} style={{ height: 400, overflow: 'auto' }}><div style={{ height: rows.getTotalSize(), position: 'relative' }}>{rows.getVirtualItems().map((row) => <p key={row.key} style={{ position: 'absolute', top: 0, height: 40, transform: `translateY(${row.start}px)` }}>{row.index} {threads[row.index % 8].note}</p>)}</div></div></>;
}
show(<Page />);
