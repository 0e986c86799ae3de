import DataTable from 'datatables.net';
import { getThreads, put } from '../page.js';

const threads = await getThreads();
put(`<table><thead><tr><th>Name</th><th>Note</th></tr></thead><tbody>${[...threads, ...threads, ...threads].map((thread) => `<tr><td>${thread.name}</td><td>${thread.note}</td></tr>`).join('')}</tbody></table>`);
new DataTable('table', { pageLength: 10, lengthChange: false });
