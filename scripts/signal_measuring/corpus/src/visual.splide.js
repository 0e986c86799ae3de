import Splide from '@splidejs/splide';
import { getThreads, put } from '../page.js';

put(`<section class="splide"><div class="splide__track"><ul class="splide__list">${(await getThreads()).map((thread) => `<li class="splide__slide">${thread.name}: ${thread.note}</li>`).join('')}</ul></div></section>`);
new Splide('.splide', { type: 'slide', perPage: 2 }).mount();
