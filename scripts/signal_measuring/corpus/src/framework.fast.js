import { FASTElement, html, repeat } from '@microsoft/fast-element';
import { getThreads, put } from '../page.js';

class Shelf extends FASTElement { threads = []; }
const threads = await getThreads();
Shelf.define({ name: 'fast-shelf', template: html`<h1>Fast</h1>${repeat(() => threads, html`<p>${(thread) => thread.name}: ${(thread) => thread.note}</p>`)}` });
put('<fast-shelf></fast-shelf>');
