import Ractive from 'ractive';
import { getThreads, root } from '../page.js';

const page = new Ractive({ target: root(), template: '{{#each threads}}<p>{{name}}: {{note}}</p>{{else}}<p>Nothing yet</p>{{/each}}', data: { threads: [] } });
await page.set('threads', await getThreads());
