// Where the browser is: the part behind # holds the page and what it shows of it, so that every view is a link and "back" works.
import { useLayoutEffect, useState } from './htm.js';

function read() {
  const [path, text = ''] = location.hash.replace(/^#\/?/, '').split(/\?(.*)/s, 2);
  return { parts: path.split('/').map(decodePart), query: Object.fromEntries(new URLSearchParams(text)), hash: location.hash };
}

function decodePart(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function link(parts, query = {}) {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== '' && value !== false);
  const text = new URLSearchParams(given).toString();
  return `#/${[].concat(parts).map(encodeURIComponent).join('/')}${text && `?${text}`}`;
}

export function go(parts, query = {}) {
  location.hash = link(parts, query);
}

export function useRoute() {
  const [route, setRoute] = useState(read);
  useLayoutEffect(() => { // before anybody sees the page, and goes on from it
    const moved = () => setRoute(read());
    addEventListener('hashchange', moved);
    return () => removeEventListener('hashchange', moved);
  }, []);
  return route;
}
