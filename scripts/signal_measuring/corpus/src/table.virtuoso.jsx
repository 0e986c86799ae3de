import { Virtuoso } from 'react-virtuoso';
import { show, useThreads } from '../react.jsx';

function Page() {
  const threads = useThreads();
  return <><h1>A master of lists</h1><Virtuoso style={{ height: 400 }} totalCount={threads.length * 40} itemContent={(index) => <p>{index} {threads[index % 8].name}: {threads[index % 8].note}</p>} /></>;
}
show(<Page />);
