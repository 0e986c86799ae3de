import { Bar, BarChart, XAxis } from 'recharts';
import { show } from '../react.jsx';

show(<><h1>Rain</h1><BarChart width={500} height={200} data={[{ day: 'Mo', mm: 3 }, { day: 'Tu', mm: 5 }, { day: 'We', mm: 1 }]}><XAxis dataKey="day" /><Bar dataKey="mm" isAnimationActive={false} /></BarChart><p>In millimetres, measured at the weir by the miller himself.</p></>);
