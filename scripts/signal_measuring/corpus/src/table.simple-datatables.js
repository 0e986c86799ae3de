import { DataTable } from 'simple-datatables';
import { getThreads, put } from '../page.js';

const threads = await getThreads();
new DataTable(put('<table></table>'), { data: { headings: ['Name', 'Note'], data: threads.map(({ name, note }) => [name, note]) } });
