import { concatMap, debounceTime, delay, from, map, mergeMap, of, tap, toArray } from 'rxjs';
import { getThreads, put } from '../page.js';

from(getThreads()).pipe(mergeMap((threads) => threads), concatMap((thread) => of(thread).pipe(delay(20))), map((thread) => `<p>${thread.name}: ${thread.note}</p>`), tap((line) => put(line)), toArray(), debounceTime(100)).subscribe((lines) => put(`<b>${lines.length} lines were read</b>`));
