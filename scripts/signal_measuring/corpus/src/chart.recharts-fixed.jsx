import { Legend, Line, LineChart, XAxis, YAxis } from 'recharts';
import { show, useThreads } from '../react.jsx';

function Page() {
  const threads = useThreads();
  return <><h1>Prices</h1><ul>{threads.map((thread) => <li key={thread.id}>{thread.name}: {thread.note}</li>)}</ul><LineChart width={900} height={300} data={threads}><XAxis dataKey="name" /><YAxis /><Legend /><Line dataKey="cents" isAnimationActive={false} /></LineChart></>;
}
show(<Page />);
