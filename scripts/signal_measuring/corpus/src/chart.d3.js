import * as d3 from 'd3';
import { getThreads, root } from '../page.js';

const threads = await getThreads();
const scale = d3.scaleLinear().domain([0, d3.max(threads, ({ metres }) => metres)]).range([0, 500]);
d3.select(root()).append('h1').text('Drawn by data');
const rows = d3.select(root()).append('svg').attr('width', 900).attr('height', 300).selectAll('g').data(threads).join('g');
rows.append('rect').attr('width', ({ metres }) => scale(metres));
rows.append('text').text(({ name, metres }) => `${name} ${d3.format(',')(metres)}`);
d3.select(root()).selectAll('p').data(threads).join('p').text(({ note }) => note);
d3.select(root()).append('svg').append('g').call(d3.axisBottom(scale));
