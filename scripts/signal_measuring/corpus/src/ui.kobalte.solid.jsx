import { Accordion } from '@kobalte/core/accordion';
import { Tabs } from '@kobalte/core/tabs';
import { createResource, For } from 'solid-js';
import { render } from 'solid-js/web';
import { getNotes, getThreads, root } from '../page.js';

function Page() {
  const [threads] = createResource(getThreads);
  const [notes] = createResource(getNotes);
  return (
    <>
      <Tabs defaultValue="a"><Tabs.List><Tabs.Trigger value="a">Threads</Tabs.Trigger></Tabs.List><Tabs.Content value="a"><For each={threads()}>{(thread) => <p>{thread.name}: {thread.note}</p>}</For></Tabs.Content></Tabs>
      <Accordion multiple defaultValue={['0', '1', '2']}><For each={notes()}>{(note, index) => <Accordion.Item value={String(index())}><Accordion.Header><Accordion.Trigger>{note.title}</Accordion.Trigger></Accordion.Header><Accordion.Content>{note.text}</Accordion.Content></Accordion.Item>}</For></Accordion>
    </>
  );
}
render(() => <Page />, root());
