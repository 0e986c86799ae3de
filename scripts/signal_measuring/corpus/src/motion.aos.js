import AOS from 'aos';
import ScrollReveal from 'scrollreveal';
import { getThreads, put } from '../page.js';

for (const thread of await getThreads()) put(`<p data-aos="fade-up" class="line">${thread.name}: ${thread.note}</p>`);
AOS.init();
ScrollReveal().reveal('.line', { afterReveal: (line) => line.append(' (seen)'), duration: 100 });
