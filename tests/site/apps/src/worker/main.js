import { getThreads } from '../shared/data.js';

const worker = new Worker('/apps/worker/count.worker.js', { type: 'module' });
worker.onmessage = ({ data }) => {
  document.querySelector('main').innerHTML = data.map(({ name, note, knots }) => `<p>${name}: ${note} It takes ${knots} knots.</p>`).join('');
};
worker.postMessage(await getThreads());
