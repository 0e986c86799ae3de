import { getThreads } from '../shared/data.js';

const pen = document.getElementById('bars').getContext('2d');
const threads = await getThreads();
threads.forEach((thread, row) => {
  pen?.fillRect(0, row * 24, thread.metres / 10, 20);
  document.querySelector('ul').insertAdjacentHTML('beforeend', `<li>${thread.name}: ${thread.metres} metres. ${thread.note}</li>`);
});
