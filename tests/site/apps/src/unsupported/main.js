import { getNotes } from '../shared/data.js';

const able = 'locks' in navigator && 'serviceWorker' in navigator && 'caches' in globalThis;
document.querySelector('main').innerHTML = able
  ? (await getNotes()).map((note) => `<p>${note.text}</p>`).join('')
  : '<p>Your browser is not supported. Please upgrade to a newer one.</p>';
