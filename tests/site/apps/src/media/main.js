import { getNotes } from '../shared/data.js';

const canvas = document.createElement('canvas');
canvas.getContext('2d').fillRect(0, 0, 10, 10);
const video = document.querySelector('video');
video.addEventListener('playing', async () => {
  document.querySelector('main').innerHTML = (await getNotes()).map((note) => `<p>${note.text}</p>`).join('');
});
video.srcObject = canvas.captureStream(10);
await video.play();
