import cytoscape from 'cytoscape';
import { getThreads, put } from '../page.js';

const threads = await getThreads();
const graph = cytoscape({ container: put('<div style="width:400px;height:300px"></div>'), elements: threads.map(({ id }) => ({ data: { id: String(id) } })), layout: { name: 'grid' } });
graph.ready(() => threads.forEach((thread) => put(`<p>${graph.$id(String(thread.id)).length}: ${thread.name}: ${thread.note}</p>`)));
