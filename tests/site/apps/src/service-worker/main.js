await navigator.serviceWorker.register('/apps/service-worker/keeper.worker.js');
await navigator.serviceWorker.ready;
if (!navigator.serviceWorker.controller) await new Promise((done) => navigator.serviceWorker.addEventListener('controllerchange', done));
const notes = await (await fetch('/apps/service-worker/kept')).json();
document.querySelector('main').innerHTML = notes.map((note) => `<h2>${note.title}</h2><p>${note.text}</p>`).join('');
