import { format, formatDistance } from 'date-fns';
import dayjs from 'dayjs';
import relative from 'dayjs/plugin/relativeTime.js';
import _ from 'lodash';
import { DateTime } from 'luxon';
import { evaluate } from 'mathjs';
import Papa from 'papaparse';
import { getThreads, put } from '../page.js';

dayjs.extend(relative);
const threads = await getThreads();
const since = new Date(Date.UTC(2020, 4, 17, 12));
put(`<h1>${format(since, 'd MMMM yyyy')}, ${DateTime.fromJSDate(since, { zone: 'utc' }).toFormat('cccc')}, ${formatDistance(since, new Date(Date.UTC(2022, 1, 1)))}, ${dayjs(since).from(dayjs('2021-05-17'))}</h1>`);
for (const [stuff, group] of _.entries(_.groupBy(_.sortBy(threads, 'name'), 'stuff'))) put(`<p>${stuff} ${evaluate(group.map(({ metres }) => metres).join('+'))}: ${_.map(group, 'note').join(' ')}</p>`);
put(`<pre>${Papa.unparse(threads.map(({ name, cents }) => ({ name, cents })))}</pre>`);
