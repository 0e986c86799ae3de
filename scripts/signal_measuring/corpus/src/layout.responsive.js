import { getThreads, put } from '../page.js';

const wide = matchMedia('(min-width: 700px)').matches && innerWidth > 700;
for (const thread of await getThreads()) put(`<p>${wide ? `${thread.name}, ${thread.stuff}, ${thread.metres} metres: ` : ''}${thread.note}</p>`);
if (matchMedia('(hover: hover)').matches) put('<b>Hold the pointer over a line to see where it was dyed.</b>');
