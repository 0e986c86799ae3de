import { put } from '../page.js';

put('<h1>Picture wall</h1><p>Four pictures from the year of the great snow.</p>');
for (let at = 0; at < 4; at += 1) put('<img alt="" width="50" height="50">');
const seen = new IntersectionObserver((entries) => entries.forEach(({ target }) => seen.unobserve(target)));
document.querySelectorAll('img').forEach((image) => seen.observe(image));
new ResizeObserver(() => {}).observe(document.body);
put('<p>They hang in the stair.</p>');
