import { Accordion, Badge, Card, List, MantineProvider, Table, Text, Title } from '@mantine/core';
import { show, useNotes, useThreads } from '../react.jsx';

function Page() {
  return (
    <MantineProvider>
      <Title>Odds and ends</Title>
      <Table><Table.Tbody>{useThreads().map((thread) => <Table.Tr key={thread.id}><Table.Td>{thread.name}</Table.Td><Table.Td>{thread.note} <Badge>{thread.stuff}</Badge></Table.Td></Table.Tr>)}</Table.Tbody></Table>
      <List>{useNotes().map((note) => <List.Item key={note.title}><Card><Text>{note.text}</Text></Card></List.Item>)}</List>
      <Accordion defaultValue="open"><Accordion.Item value="open"><Accordion.Control>Opening hours</Accordion.Control><Accordion.Panel>From the first bell to the last cart.</Accordion.Panel></Accordion.Item></Accordion>
    </MantineProvider>
  );
}
show(<Page />);
