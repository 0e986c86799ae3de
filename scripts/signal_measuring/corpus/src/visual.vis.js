import { DataSet, Network } from 'vis-network/standalone/esm/vis-network.js';
import { getThreads, put } from '../page.js';

const threads = await getThreads();
const network = new Network(put('<div style="width:400px;height:300px"></div>'), { nodes: new DataSet(threads.map(({ id, name }) => ({ id, label: name }))), edges: new DataSet([]) }, {});
network.once('afterDrawing', () => threads.forEach((thread) => put(`<p>${thread.name}: ${thread.note}</p>`)));
