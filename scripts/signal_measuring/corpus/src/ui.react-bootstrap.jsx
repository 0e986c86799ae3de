import { Accordion, Badge, Card, ListGroup, Nav, Navbar, Tab, Tabs } from 'react-bootstrap';
import { show, useNotes, useThreads } from '../react.jsx';

function Page() {
  const notes = useNotes();
  return (
    <>
      <Navbar><Nav.Link>Looms</Nav.Link><Nav.Link>Vats</Nav.Link></Navbar>
      <ListGroup>{useThreads().map((thread) => <ListGroup.Item key={thread.id}>{thread.name} <Badge>{thread.metres}</Badge> {thread.note}</ListGroup.Item>)}</ListGroup>
      {notes.map((note) => <Card key={note.title}><Card.Title>{note.title}</Card.Title><Card.Text>{note.text}</Card.Text></Card>)}
      <Tabs defaultActiveKey="a"><Tab eventKey="a" title="Today">Nothing new under the roof.</Tab></Tabs>
      <Accordion defaultActiveKey="0"><Accordion.Item eventKey="0"><Accordion.Header>More</Accordion.Header><Accordion.Body>Ask at the gate.</Accordion.Body></Accordion.Item></Accordion>
    </>
  );
}
show(<Page />);
