import Swal from 'sweetalert2';
import { put } from '../page.js';

put('<h1>Archive</h1><p>Some pages are kept under lock.</p>');
Swal.fire({ title: 'One question', text: 'Are you older than the loom?' });
