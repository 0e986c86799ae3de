import Markdown from 'react-markdown';
import { show, useNotes } from '../react.jsx';

function Page() { return <Markdown>{useNotes().map((note) => `## ${note.title}\n\n${note.text}\n`).join('\n')}</Markdown>; }
show(<Page />);
