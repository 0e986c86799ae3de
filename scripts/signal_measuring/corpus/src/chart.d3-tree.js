import * as d3 from 'd3';
import { getThreads, root } from '../page.js';

const threads = await getThreads();
const tree = d3.hierarchy({ name: 'All', children: d3.groups(threads, ({ stuff }) => stuff).map(([name, children]) => ({ name, children })) });
d3.tree().size([400, 400])(tree);
d3.select(root()).append('h1').text('Families of thread');
d3.select(root()).append('svg').selectAll('text').data(tree.descendants()).join('text').attr('x', ({ x }) => x).text(({ data }) => `${data.name} ${data.note ?? ''}`);
