import { Calendar } from '@fullcalendar/core';
import dayGrid from '@fullcalendar/daygrid';
import { box, getThreads } from '../page.js';

const threads = await getThreads();
new Calendar(box(), { plugins: [dayGrid], initialDate: '2024-03-01', events: threads.map(({ id, name }) => ({ title: name, date: `2024-03-0${id}` })) }).render();
