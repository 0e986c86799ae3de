import { Editor } from '@tiptap/core';
import StarterKit from '@tiptap/starter-kit';
import { getNotes, root } from '../page.js';

new Editor({ element: root(), extensions: [StarterKit], content: (await getNotes()).map((note) => `<h2>${note.title}</h2><p>${note.text}</p><ul><li>one</li></ul>`).join('') });
