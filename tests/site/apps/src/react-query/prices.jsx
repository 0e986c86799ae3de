import { useQuery } from '@tanstack/react-query';
import { getThreads, price } from '../shared/data.js';

export default function Prices() {
  const { data = [] } = useQuery({ queryKey: ['threads'], queryFn: getThreads });
  return <dl>{data.map((thread) => <div key={thread.id}><dt>{thread.name}</dt><dd>{price(thread.cents)} for {thread.metres} metres</dd></div>)}</dl>;
}
