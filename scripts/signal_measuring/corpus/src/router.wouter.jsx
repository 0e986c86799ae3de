import { Link, Route, Router, Switch } from 'wouter';
import { show, useNotes, useThreads } from '../react.jsx';

const Threads = () => useThreads().map((thread) => <p key={thread.id}>{thread.name}: {thread.note}</p>);
const Notes = () => useNotes().map((note) => <p key={note.title}>{note.text}</p>);
show(<Router base="/corpus/router.wouter"><Link href="/notes">Notes</Link><Switch><Route path="/notes" component={Notes} /><Route component={Threads} /></Switch></Router>);
