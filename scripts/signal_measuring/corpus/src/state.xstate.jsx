import { useMachine } from '@xstate/react';
import { assign, createMachine, fromPromise } from 'xstate';
import { getThreads, show } from '../react.jsx';

const machine = createMachine({ initial: 'asking', context: { threads: [] }, states: { asking: { invoke: { src: fromPromise(getThreads), onDone: { target: 'shown', actions: assign({ threads: ({ event }) => event.output }) } } }, shown: { after: { 300: 'rested' } }, rested: {} } });
function Page() { const [state] = useMachine(machine); return <><h1>{state.value}</h1>{state.context.threads.map((thread) => <p key={thread.id}>{thread.name}: {thread.note}</p>)}</>; }
show(<Page />);
