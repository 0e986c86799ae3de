// What the pages share: the data of the site, and short ways to put them on the page.
export * from '../../../tests/site/apps/src/shared/data.js';

export const root = () => document.getElementById('root');

export function put(html, into = root()) {
  into.insertAdjacentHTML('beforeend', html);
  return into.lastElementChild;
}

export const box = (style = '') => put(`<div style="${style}"></div>`);
