import '@shoelace-style/shoelace/dist/components/badge/badge.js';
import '@shoelace-style/shoelace/dist/components/card/card.js';
import '@shoelace-style/shoelace/dist/components/details/details.js';
import '@shoelace-style/shoelace/dist/components/tab-group/tab-group.js';
import '@shoelace-style/shoelace/dist/components/tab-panel/tab-panel.js';
import '@shoelace-style/shoelace/dist/components/tab/tab.js';
import { getNotes, getThreads, put } from '../page.js';

for (const thread of await getThreads()) put(`<sl-card><b slot="header">${thread.name}</b>${thread.note} <sl-badge>${thread.stuff}</sl-badge></sl-card>`);
for (const note of await getNotes()) put(`<sl-details open summary="${note.title}">${note.text}</sl-details>`);
put('<sl-tab-group><sl-tab slot="nav" panel="a">First</sl-tab><sl-tab slot="nav" panel="b">Second</sl-tab><sl-tab-panel name="a">What lies on the first table.</sl-tab-panel><sl-tab-panel name="b">What lies on the second table.</sl-tab-panel></sl-tab-group>');
