import { Bar, BarChart, ResponsiveContainer, XAxis, YAxis } from 'recharts';
import { show, useThreads } from '../react.jsx';

function Page() {
  const threads = useThreads();
  return <><h1>Metres in store</h1><p>What is drawn here was counted by hand on the last day of the month.</p><div style={{ width: 800, height: 300 }}><ResponsiveContainer><BarChart data={threads}><XAxis dataKey="name" /><YAxis /><Bar dataKey="metres" isAnimationActive={false} /></BarChart></ResponsiveContainer></div></>;
}
show(<Page />);
