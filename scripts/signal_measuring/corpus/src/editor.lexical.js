import { $createParagraphNode, $createTextNode, $getRoot, createEditor } from 'lexical';
import { $createHeadingNode, HeadingNode, registerRichText } from '@lexical/rich-text';
import { getNotes, put } from '../page.js';

const notes = await getNotes();
const editor = createEditor({ nodes: [HeadingNode], onError: console.error });
editor.setRootElement(put('<div contenteditable="true"></div>'));
registerRichText(editor);
editor.update(() => {
  for (const note of notes) $getRoot().append($createHeadingNode('h2').append($createTextNode(note.title)), $createParagraphNode().append($createTextNode(note.text)));
});
