import { useMemo } from 'react';
import { createEditor } from 'slate';
import { Editable, Slate, withReact } from 'slate-react';
import { show, useNotes } from '../react.jsx';

function Text({ notes }) {
  const editor = useMemo(() => withReact(createEditor()), []);
  return <Slate editor={editor} initialValue={notes.map((note) => ({ type: 'paragraph', children: [{ text: note.title, bold: true }, { text: ` ${note.text}` }] }))}><Editable /></Slate>;
}
const Page = () => { const notes = useNotes(); return notes.length ? <Text notes={notes} /> : <p>Ink is being mixed</p>; };
show(<Page />);
