import videojs from 'video.js';
import { getThreads, put } from '../page.js';

videojs(put('<video class="video-js" controls></video>'));
for (const thread of await getThreads()) put(`<p>${thread.name}: ${thread.note}</p>`);
