import { put } from '../page.js';

put('<h1>Opening hours</h1><p>Monday to Friday from eight to five.</p>');
if (!localStorage.getItem('agreed')) put('<aside>We count visits, nothing else. <button>Fine</button></aside>');
navigator.sendBeacon?.('/apps/api/nothing', 'x');
