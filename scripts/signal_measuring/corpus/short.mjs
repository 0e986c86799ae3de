// Short pages that came whole, with scripts beside that add nothing to what they show.
export const short = {
  'hours': ['<h1>Opening hours</h1><p>Monday to Friday, eight to five. Closed when the river is high.</p>', "navigator.sendBeacon?.('/apps/api/nothing');"],
  'moved': ['<h1>We have moved</h1><p>You find us now beside the old weir, at the sign of the shuttle.</p>', "window.dataLayer = []; dataLayer.push({ at: Date.now() });"],
  'login': ['<h1>Members</h1><form><label>Name <input></label><label>Password <input type="password"></label><button>Enter</button></form><p>New here? Ask the clerk for a key.</p>', "document.querySelector('form').addEventListener('submit', (event) => event.preventDefault());"],
  'gone': ['<h1>Sold</h1><p>This cloth has found somebody. There will be others in autumn.</p>', "new IntersectionObserver(() => {}).observe(document.querySelector('h1'));"],
  'vitals': ['<h1>Note</h1><p>The bridge is closed until further notice. Use the ford if the water allows it.</p>', "new PerformanceObserver(() => {}).observe({ type: 'largest-contentful-paint', buffered: true }); new PerformanceObserver(() => {}).observe({ type: 'navigation', buffered: true });"],
  'theme': ['<h1>Card</h1><p>Ada of the third loom. Weaves to order, teaches on Sundays, answers letters.</p>', "document.documentElement.className = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';"],
  'video': ['<h1>The film</h1><p>Four minutes at the vat, without words.</p><video controls src="/apps/api/nothing.mp4"></video><p>Filmed in spring.</p>', ''],
  'error': ['<h1>Timetable</h1><p>The cart leaves at nine and comes back at four, except on holidays.</p>', 'thirdParty.track();'],
  'socket': ['<h1>Queue</h1><p>There are four people before you. The page calls you when it is time.</p>', "new WebSocket(`ws://${location.host}/apps/api/socket`).onmessage = () => {};"],
};
