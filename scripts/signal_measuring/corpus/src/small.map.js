import L from 'leaflet';
import { put } from '../page.js';

put('<h1>Where we are</h1><p>Behind the church, over the small bridge, then left.</p>');
L.map(put('<div style="width:300px;height:200px"></div>'), { zoomControl: false, attributionControl: false }).setView([51, 9], 6);
put('<p>The gate is open from eight.</p>');
