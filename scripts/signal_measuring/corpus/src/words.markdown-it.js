import hljs from 'highlight.js/lib/common';
import MarkdownIt from 'markdown-it';
import { getNotes, put } from '../page.js';

const markdown = new MarkdownIt({ linkify: true, highlight: (code) => hljs.highlightAuto(code).value });
put(`<main>${markdown.render((await getNotes()).map((note) => `## ${note.title}\n\n${note.text}\n\n- one\n- *two*`).join("\n\n"))}${markdown.render('```js\nconst warp = 12;\n```')}</main>`);
