// Pairs this extension with a gateway: a code that the gateway has given to its user, once, for a key of the extension's own.
import { configure, settings } from './store.js';

const LINK = /^(https?:\/\/[^/?#]+)\/pair#([\w-]{20,200})$/;
const OF_THIS_MACHINE = /^http:\/\/(?:127\.0\.0\.1|localhost)(?::\d+)?$/;

// Pairs by a link as `weft extension` prints it.
export async function pairByLink(link) {
  const match = LINK.exec(link.trim());
  if (!match) return { error: 'This is no link of `weft extension --pair`.' };
  return exchange(match[1], match[2]);
}

// Pairs by a click on the page of a gateway on this machine. Where the extension has a gateway already no page gives it another one.
export async function pairByPage(message, sender) {
  const { origin = '', url = '', tab } = sender;
  if (!tab || !OF_THIS_MACHINE.test(origin) || new URL(url).pathname !== '/pair') return { error: 'This page does not pair.' };
  if (message?.type !== 'pair' || typeof message.code !== 'string' || !/^[\w-]{20,200}$/.test(message.code)) return { error: 'There is no code.' };
  const { gateway } = await settings();
  if (gateway && gateway !== origin) return { error: `This extension is paired with ${gateway}. Forget that one in its settings first.` };
  return exchange(origin, message.code);
}

async function exchange(gateway, code) {
  try {
    const response = await fetch(`${gateway}/api/pair`, { method: 'POST', headers: { authorization: `Bearer ${code}` }, credentials: 'omit', cache: 'no-store', redirect: 'error' });
    const answer = await response.json();
    if (!response.ok) return { error: response.status === 401 ? 'The code is used up or too old: `weft extension --pair` prints another one.' : String(answer.message ?? 'It was refused.') };
    await configure({ gateway, key: answer.key, name: answer.name, models: Array.isArray(answer.scopes) ? answer.scopes.includes('models') : null });
    return { name: answer.name, gateway };
  } catch {
    return { error: `No Weft answers at ${gateway}.` };
  }
}

// Sets the gateway by hand.
export async function configureByHand({ gateway, key }) {
  const address = String(gateway).trim().replace(/\/+$/, '');
  if (!/^https?:\/\/[^/?#\s@]+$/.test(address)) return { error: 'The address is one like http://127.0.0.1:8720.' };
  if (!/^[\x21-\x7e]{8,8192}$/.test(String(key).trim())) return { error: 'The key is missing.' };
  await configure({ gateway: address, key: String(key).trim() });
  return { gateway: address };
}

export const unpair = () => configure({});
