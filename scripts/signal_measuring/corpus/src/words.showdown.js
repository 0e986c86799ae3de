import showdown from 'showdown';
import { getNotes, put } from '../page.js';

put(`<main>${new showdown.Converter({ tables: true }).makeHtml((await getNotes()).map((note) => `## ${note.title}\n\n${note.text}\n\n- one\n- *two*`).join("\n\n"))}</main>`);
