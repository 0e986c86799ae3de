import { Grid } from 'gridjs';
import { getThreads, root } from '../page.js';

new Grid({ columns: ['name', 'stuff', 'note'], data: (await getThreads()).map(({ name, stuff, note }) => [name, stuff, note]), sort: true, search: true }).render(root());
