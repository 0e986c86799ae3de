import { computePosition, flip, size } from '@floating-ui/dom';
import { getThreads, put } from '../page.js';

const threads = await getThreads();
const [anchor, panel] = [put('<button type="button">Where</button>'), put('<div style="position:absolute">The panel</div>')];
const { placement } = await computePosition(anchor, panel, { middleware: [flip(), size()] });
panel.append(placement === 'bottom' ? ' hangs below' : ' stands elsewhere');
for (const thread of threads) put(`<p>${thread.name}: ${thread.note}</p>`);
