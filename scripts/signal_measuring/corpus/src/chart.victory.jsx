import { VictoryBar, VictoryChart } from 'victory';
import { show, useThreads } from '../react.jsx';

function Page() {
  const threads = useThreads();
  return <><h1>Winners</h1><VictoryChart><VictoryBar data={threads} x="name" y="metres" /></VictoryChart><p>{threads.map(({ note }) => note).join(' ')}</p></>;
}
show(<Page />);
