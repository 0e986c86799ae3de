import { Callout, Card, DataList, Heading, Tabs, Text, Theme } from '@radix-ui/themes';
import { price, show, useNotes, useThreads } from '../react.jsx';

function Page() {
  const notes = useNotes();
  return (
    <Theme>
      <Heading>Roots and threads</Heading>
      <DataList.Root>{useThreads().map((thread) => <DataList.Item key={thread.id}><DataList.Label>{thread.name}</DataList.Label><DataList.Value>{thread.note} {price(thread.cents)}</DataList.Value></DataList.Item>)}</DataList.Root>
      <Tabs.Root defaultValue="notes"><Tabs.List><Tabs.Trigger value="notes">Notes</Tabs.Trigger></Tabs.List><Tabs.Content value="notes">{notes.map((note) => <Card key={note.title}><Text>{note.text}</Text></Card>)}</Tabs.Content></Tabs.Root>
      <Callout.Root><Callout.Text>The dog at the gate is old and only wants company.</Callout.Text></Callout.Root>
    </Theme>
  );
}
show(<Page />);
