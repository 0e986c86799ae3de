import { Carousel, Collapse, Modal, Toast } from 'bootstrap';
import 'bootstrap/dist/css/bootstrap.css';
import { getNotes, getThreads, put } from '../page.js';

const threads = await getThreads();
put(`<div class="accordion">${threads.map((thread) => `<div class="accordion-item"><h2 class="accordion-header">${thread.name}</h2><div class="collapse">${thread.note}</div></div>`).join('')}</div>`);
for (const part of document.querySelectorAll('.collapse')) new Collapse(part, { toggle: false }).show();
const notes = await getNotes();
new Carousel(put(`<div class="carousel"><div class="carousel-inner">${notes.map((note, index) => `<div class="carousel-item ${index ? '' : 'active'}">${note.text}</div>`).join('')}</div></div>`));
new Toast(put('<div class="toast" data-bs-autohide="false"><div class="toast-body">A parcel has come for you.</div></div>')).show();
new Modal(put('<div class="modal"><div class="modal-dialog"><div class="modal-content">Please wipe your shoes before you come in.</div></div></div>')).show();
