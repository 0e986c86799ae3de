import L from 'leaflet';
import { getThreads, put } from '../page.js';

const threads = await getThreads();
const map = L.map(put('<div style="width:600px;height:400px"></div>'), { zoomControl: false, attributionControl: false }).setView([51, 9], 6);
for (const thread of threads) { L.circleMarker([50 + thread.id / 5, 9]).addTo(map); put(`<p>${thread.name}: ${thread.note}</p>`); }
