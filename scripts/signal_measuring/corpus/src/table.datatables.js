import DataTable from 'datatables.net-dt';
import { getThreads, put } from '../page.js';

const threads = await getThreads();
new DataTable(put('<table></table>'), { data: threads, columns: ['name', 'stuff', 'metres', 'note'].map((data) => ({ data, title: data })) });
