import { Bar } from '@nivo/bar';
import { show, useThreads } from '../react.jsx';

function Page() {
  const threads = useThreads();
  return <><h1>Stripes</h1><Bar width={900} height={300} data={threads} keys={['metres']} indexBy="name" animate={false} axisBottom={{}} axisLeft={{}} /><p>{threads.map(({ note }) => note).join(' ')}</p></>;
}
show(<Page />);
