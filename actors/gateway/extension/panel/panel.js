// The panel: shows the session of a tab, and hands on what its user says. It has no key and speaks with nobody but the worker.
import { draw } from './drawing.js';

const HEARTBEAT_MS = 15_000;
const MODELS = 'It may have the models of this Weft asked where rules do not suffice.';
const NO_MODELS = 'It plans by rules, and by models on the machine of this Weft if there are any; others are not asked for it. What needs one it asks you instead. To change that: Forget this Weft, then weft extension --pair --models.';
const ALL = ['http://*/*', 'https://*/*'];
const $ = (id) => document.getElementById(id);
const fixed = Number(new URLSearchParams(location.search).get('tab')) || 0;
const waiting = new Map();
let port = null, tab = 0, state = null, number = 0;

function connect() {
  port = chrome.runtime.connect({ name: 'panel' });
  port.onMessage.addListener(heard);
  port.onDisconnect.addListener(() => {
    port = null;
    setTimeout(connect, 200); // the worker was put to sleep, or is another now
  });
  if (tab) port.postMessage({ type: 'show', tab });
}

function heard({ type, ...message }) {
  if (type === 'state' && message.state.tab === tab) {
    ({ state } = message);
    draw(state, { choose });
  } else if (type === 'settings') {
    drawSettings(message.settings);
  } else if (type === 'answer') {
    waiting.get(message.number)?.(message.answer);
    waiting.delete(message.number);
  }
}

// Asks the worker for something; what comes of it is an answer.
function send(type, values = {}) {
  number += 1;
  port?.postMessage({ type, tab, number, ...values });
  return new Promise((done) => waiting.set(number, done));
}

// -- which tab ---------------------------------------------------------------------------------------------------------

async function follow() {
  const [active] = fixed ? [{ id: fixed }] : await chrome.tabs.query({ active: true, currentWindow: true });
  if (!active?.id || active.id === tab) return;
  tab = active.id;
  port?.postMessage({ type: 'show', tab });
}

// -- what its user says ------------------------------------------------------------------------------------------------

function choose(words) {
  send('reply', { words });
}

$('task-form').addEventListener('submit', (event) => {
  event.preventDefault();
  const query = $('task').value.trim();
  if (!query) return $('task').focus();
  $('task').value = '';
  send('begin', { query });
  return $('steps').focus();
});

$('task').addEventListener('keydown', (event) => {
  if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  $('task-form').requestSubmit();
});

$('answer-form').addEventListener('submit', (event) => {
  event.preventDefault();
  choose($('answer').value.trim());
  $('answer').value = '';
});

$('stop').addEventListener('click', () => send('stop'));
$('resume').addEventListener('click', () => send('resume'));
$('again').addEventListener('click', () => send('again'));
addEventListener('keydown', (event) => {
  if (event.key === 'Escape' && state?.status === 'running') send('stop');
});

// -- leave to look at a site -------------------------------------------------------------------------------------------

// Asked for in the very step in which its user has pressed a button: a browser wants it so.
async function allow(origins) {
  if (await chrome.permissions.request({ origins })) send('resume');
}

$('allow-site').addEventListener('click', () => allow([state.origin]));
$('allow-all').addEventListener('click', () => allow(ALL));

// -- settings ----------------------------------------------------------------------------------------------------------

function drawSettings({ gateway, name, models, paired }) {
  const called = name && ` as ${name}`;
  $('paired').textContent = paired ? `Paired with ${gateway}${called}.` : 'Not paired with a Weft yet.';
  $('models').hidden = models === null || !paired;
  $('models').textContent = models ? MODELS : NO_MODELS;
  $('unpair').hidden = !paired;
  $('pair-form').hidden = paired;
  if (!paired) open(true);
  $('start').disabled = !paired;
}

function open(shown) {
  $('settings').hidden = !shown;
  $('settings-button').setAttribute('aria-expanded', String(shown));
}

async function configured(type, values) {
  const { error } = await send(type, values);
  $('settings-note').textContent = error ?? '';
  if (error) return;
  for (const id of ['link', 'gateway', 'key']) $(id).value = '';
  open(type === 'unpair');
  $('task').focus();
}

$('settings-button').addEventListener('click', () => open($('settings').hidden));
$('pair-form').addEventListener('submit', (event) => {
  event.preventDefault();
  configured('pair', { link: $('link').value });
});
$('hand-form').addEventListener('submit', (event) => {
  event.preventDefault();
  configured('configure', { gateway: $('gateway').value, key: $('key').value });
});
$('unpair').addEventListener('click', () => configured('unpair'));

connect();
await follow();
if (!fixed) {
  chrome.tabs.onActivated.addListener(follow);
  chrome.windows?.onFocusChanged.addListener(follow);
}
setInterval(() => port?.postMessage({ type: 'alive' }), HEARTBEAT_MS);
