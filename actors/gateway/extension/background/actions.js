// Reads action strings of 001 as its clients do: a name, and arguments whose quotes are sliced off.
const CALL = /^\s*([A-Za-z_]\w*)\s*(?:\(([\s\S]*)\))?\s*;?\s*$/;
const MORE = /\s*(?:"([^"]*)"|'([^']*)'|`([^`]*)`|(\[[^\]]*\])|([^,]*?))\s*(,|$)/y;
const ALIASES = {
  __proto__: null, done: 'finish', complete: 'finish', back: 'goBack', forward: 'goForward', reload: 'refresh', goto: 'navigate', open: 'navigate',
  drag: 'dragAndDrop', fill: 'setValue', type_text: 'type', select: 'selectDropdown', newTab: 'createTab',
};

// The actions that the server performs itself: a client only shows them.
export const OF_SERVER = new Set(['verifySuccess', 'remember', 'recall', 'ask_user', 'finish', 'fail']);

// Those of the browser rather than of what is on the page.
export const OF_BROWSER = new Set([
  'navigate', 'goBack', 'goForward', 'refresh', 'search', 'googleSearch', 'createTab', 'switch', 'close', 'getTabs', 'wait', 'screenshot',
]);

// Those that change nothing, and are found to be done by what they return.
export const READING = new Set([
  'getText', 'getAttribute', 'isVisible', 'isEnabled', 'dropdownOptions', 'findText', 'wait', 'waitForElement', 'screenshot', 'getTabs',
]);

// Returns {name, args}; null for what is no action.
export function parseAction(text) {
  const match = CALL.exec(text ?? '');
  if (!match) return null;
  return { name: ALIASES[match[1]] ?? match[1], args: match[2]?.trim() ? argumentsOf(match[2]) : [] };
}

function argumentsOf(inside) {
  const found = [];
  MORE.lastIndex = 0;
  while (MORE.lastIndex <= inside.length) {
    const match = MORE.exec(inside);
    if (!match) return found;
    found.push(match[4] === undefined ? match[1] ?? match[2] ?? match[3] ?? match[5] : listOf(match[4]));
    if (match[6] === '') break;
  }
  return found;
}

function listOf(text) {
  return text.slice(1, -1).split(',').map((one) => one.trim().replace(/^(["'`])(.*)\1$/, '$2')).filter(Boolean);
}

// Those that write what may be secret.
export const WRITING = new Set(['setValue', 'type']);

// The same without what was written into a field that is secret: of two arguments the first names the field.
export function concealed(action, secret) {
  if (!secret) return action;
  return parseAction(action)?.name === 'type' ? action.replace(/\([\s\S]*\)/, '(********)') : action.replace(/\(([^,]*),[\s\S]*\)/, '($1, ********)');
}
