import { List } from 'react-window';
import { show, useThreads } from '../react.jsx';

const Row = ({ index, style, threads }) => <div style={style}>{index} {threads[index % 8].name} {threads[index % 8].note}</div>;
function Page() {
  const threads = useThreads();
  return <><h1>Through a window</h1><div style={{ height: 400 }}>{threads.length ? <List rowComponent={Row} rowCount={400} rowHeight={30} rowProps={{ threads }} /> : null}</div></>;
}
show(<Page />);
