import { ApolloClient, ApolloLink, gql, InMemoryCache, Observable } from '@apollo/client';
import { ApolloProvider, useQuery } from '@apollo/client/react';
import { getThreads, show } from '../react.jsx';

const link = new ApolloLink(() => new Observable((observer) => void getThreads().then((threads) => { observer.next({ data: { threads: threads.map((thread) => ({ __typename: 'Thread', ...thread })) } }); observer.complete(); })));
const client = new ApolloClient({ link, cache: new InMemoryCache() });
function Page() { const { data } = useQuery(gql`{ threads { id name note } }`); return data ? data.threads.map((thread) => <p key={thread.id}>{thread.name}: {thread.note}</p>) : <p>Asking</p>; }
show(<ApolloProvider client={client}><Page /></ApolloProvider>);
