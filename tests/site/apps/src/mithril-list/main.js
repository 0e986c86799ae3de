import m from 'mithril';
import { getThreads, price } from '../shared/data.js';

let threads = [];
const Shop = {
  oninit: () => getThreads().then((found) => { threads = found; m.redraw(); }),
  view: () => m('main', [
    m('h1', 'The counting room'),
    m('p', 'Every evening the clerk counts what went out, and every morning somebody asks him to count it again.'),
    m('table', m('tbody', threads.map((thread) => m('tr', { key: thread.id }, [
      m('td', thread.name), m('td', thread.note), m('td', price(thread.cents)),
    ])))),
  ]),
};
m.route(document.getElementById('root'), '/', { '/': Shop });
