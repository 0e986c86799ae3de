import { Disclosure, DisclosureButton, DisclosurePanel, Tab, TabGroup, TabList, TabPanel, TabPanels, Transition } from '@headlessui/react';
import { show, useNotes, useThreads } from '../react.jsx';

function Page() {
  const notes = useNotes();
  return (
    <>
      <TabGroup><TabList><Tab>Threads</Tab></TabList><TabPanels><TabPanel>{useThreads().map((thread) => <p key={thread.id}>{thread.name}: {thread.note}</p>)}</TabPanel></TabPanels></TabGroup>
      {notes.map((note) => <Disclosure key={note.title} defaultOpen><DisclosureButton>{note.title}</DisclosureButton><DisclosurePanel>{note.text}</DisclosurePanel></Disclosure>)}
      <Transition show appear as="div" enter="duration-300"><p>This part comes in gently and stays.</p></Transition>
    </>
  );
}
show(<Page />);
