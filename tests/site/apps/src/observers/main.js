import { getNotes, getThreads } from '../shared/data.js';

const [list, box, end] = ['list', 'box', 'end'].map((id) => document.getElementById(id));

new MutationObserver((records) => {
  const added = records.flatMap((record) => [...record.addedNodes]).filter((node) => node.tagName === 'LI');
  for (const node of added) if (!node.dataset.told) { node.dataset.told = 'yes'; node.append(' (written down)'); }
}).observe(list, { childList: true });

new IntersectionObserver(async (entries, observer) => {
  if (!entries.some((entry) => entry.isIntersecting)) return;
  observer.disconnect();
  for (const thread of await getThreads()) {
    list.append(Object.assign(document.createElement('li'), { textContent: `${thread.name}: ${thread.note}` }));
  }
}).observe(box);

new ResizeObserver(async (_, observer) => {
  observer.disconnect();
  end.textContent = (await getNotes())[0].text;
}).observe(end);
