import { produce } from 'immer';
import { useReducer, useEffect } from 'react';
import styled, { ThemeProvider } from 'styled-components';
import { getThreads, show } from '../react.jsx';

const Line = styled.p`color: ${({ theme }) => theme.ink};`;
function Page() {
  const [state, dispatch] = useReducer(produce((draft, found) => { draft.threads.push(...found); }), { threads: [] });
  useEffect(() => void getThreads().then(dispatch), []);
  return <ThemeProvider theme={{ ink: 'navy' }}>{state.threads.map((thread) => <Line key={thread.id}>{thread.name}: {thread.note}</Line>)}</ThemeProvider>;
}
show(<Page />);
