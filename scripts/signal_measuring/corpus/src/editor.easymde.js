import EasyMDE from 'easymde';
import { getNotes, put } from '../page.js';

const notes = await getNotes();
const editor = new EasyMDE({ element: put('<textarea></textarea>'), autoDownloadFontAwesome: false, spellChecker: false, initialValue: notes.map((note) => `## ${note.title}\n\n${note.text}`).join('\n\n') });
put(editor.markdown(editor.value()));
put(`<div>${editor.markdown(editor.value())}</div>`);
