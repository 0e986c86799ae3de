import '@material/web/button/filled-button.js';
import '@material/web/list/list-item.js';
import '@material/web/list/list.js';
import '@material/web/tabs/primary-tab.js';
import '@material/web/tabs/tabs.js';
import { getNotes, getThreads, put } from '../page.js';

put('<md-tabs><md-primary-tab>Wool</md-primary-tab><md-primary-tab>Silk</md-primary-tab></md-tabs>');
put(`<md-list>${(await getThreads()).map((thread) => `<md-list-item><div slot="headline">${thread.name}</div><div slot="supporting-text">${thread.note}</div></md-list-item>`).join('')}</md-list>`);
for (const note of await getNotes()) put(`<p>${note.text}</p><md-filled-button>Read on</md-filled-button>`);
