import { put } from '../page.js';

const events = new EventSource('/apps/api/events');
events.onmessage = ({ data }) => put(`<p>${data}</p>`);
events.onerror = () => events.close();
