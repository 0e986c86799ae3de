import Swiper from 'swiper';
import { getThreads, put } from '../page.js';

put(`<div class="swiper"><div class="swiper-wrapper">${(await getThreads()).map((thread) => `<div class="swiper-slide"><h2>${thread.name}</h2>${thread.note}</div>`).join('')}</div></div>`);
new Swiper('.swiper', { loop: true, slidesPerView: 2 });
