import Feature from 'ol/Feature.js';
import Point from 'ol/geom/Point.js';
import VectorLayer from 'ol/layer/Vector.js';
import OlMap from 'ol/Map.js';
import VectorSource from 'ol/source/Vector.js';
import View from 'ol/View.js';
import { getThreads, put } from '../page.js';

const threads = await getThreads();
const map = new OlMap({ target: put('<div style="width:600px;height:400px"></div>'), layers: [new VectorLayer({ source: new VectorSource({ features: threads.map(({ id }) => new Feature(new Point([id, id]))) }) })], view: new View({ center: [0, 0], zoom: 2 }) });
map.once('rendercomplete', () => threads.forEach((thread) => put(`<p>${thread.name}: ${thread.note}</p>`)));
