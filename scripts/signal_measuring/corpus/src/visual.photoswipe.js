import PhotoSwipeLightbox from 'photoswipe/lightbox';
import { getThreads, put } from '../page.js';

put(`<div id="gallery">${(await getThreads()).map((thread) => `<a href="/x.png" data-pswp-width="10" data-pswp-height="10">${thread.name}: ${thread.note}</a>`).join('')}</div>`);
new PhotoSwipeLightbox({ gallery: '#gallery', children: 'a', pswpModule: () => import('photoswipe') }).init();
