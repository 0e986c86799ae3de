import { getNotes, getThreads, price } from '../shared/data.js';

const view = document.getElementById('view');
const rooms = {
  looms: async () => (await getNotes()).map((note) => `<h2>${note.title}</h2><p>${note.text}</p>`).join(''),
  cellar: async () => (await getThreads()).map((thread) => `<p>${thread.name}, ${price(thread.cents)}: ${thread.note}</p>`).join(''),
};

async function show() {
  const room = location.pathname.split('/')[3] || 'looms';
  localStorage.setItem('rooms', JSON.stringify([...JSON.parse(localStorage.getItem('rooms') ?? '[]'), room]));
  sessionStorage.setItem('last', room);
  view.innerHTML = await rooms[room]();
  document.getElementById('seen').textContent =
    `You have seen ${JSON.parse(localStorage.getItem('rooms')).join(' and ')}, the last was the ${sessionStorage.getItem('last')}; ${history.state?.step ?? 0} steps.`;
}

addEventListener('popstate', show);
localStorage.clear();
await show();
history.pushState({ step: 1 }, '', '/apps/history/cellar');
await show();
