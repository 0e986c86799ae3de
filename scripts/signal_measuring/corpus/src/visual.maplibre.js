import * as maplibregl from 'maplibre-gl';
import { getThreads, put } from '../page.js';

const threads = await getThreads();
put('<h1>A map</h1>');
const map = new maplibregl.Map({ container: put('<div style="width:600px;height:400px"></div>'), style: { version: 8, sources: {}, layers: [{ id: 'ground', type: 'background' }] } });
map.on('load', () => threads.forEach((thread) => put(`<p>${thread.name}: ${thread.note}</p>`)));
