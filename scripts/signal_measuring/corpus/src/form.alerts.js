import { Notyf } from 'notyf';
import Swal from 'sweetalert2';
import { getThreads, put } from '../page.js';

for (const thread of await getThreads()) put(`<p>${thread.name}: ${thread.note}</p>`);
Swal.fire({ title: 'Before you go on', text: 'The stairs are wet today.', showConfirmButton: true });
new Notyf({ duration: 0 }).success('Your basket was kept.');
