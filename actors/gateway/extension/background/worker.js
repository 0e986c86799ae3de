// The worker of the extension: hears the panel, the tabs and the pages that are acted on, and nobody else.
import { again, begin, halt, reply, resume, resumeAll, stop } from './loop.js';
import { configureByHand, pairByLink, pairByPage, unpair } from './pairing.js';
import { begun, unwatch, watch } from './push.js';
import { all, forget, guard, onChange, panelState, read, settings } from './store.js';

const PANEL = chrome.runtime.getURL('panel/panel.html');
const MANY_CHARS = 10_000;
const panels = new Map();

// What the panel may ask for, each with the tab that it shows.
const COMMANDS = {
  begin: (tab, { query }) => clean(query) && void begin(tab, clean(query)),
  reply: (tab, { words }) => void reply(tab, clean(words)),
  stop: (tab) => stop(tab),
  resume: (tab) => void resume(tab),
  again: (tab) => stop(tab).then(() => again(tab)),
  pair: (_, { link }) => pairByLink(String(link)),
  configure: (_, values) => configureByHand(values),
  unpair: () => unpair(),
};

const clean = (text) => String(text ?? '').trim().slice(0, MANY_CHARS);

// -- the panel ---------------------------------------------------------------------------------------------------------

chrome.runtime.onConnect.addListener((port) => {
  if (port.name !== 'panel' || !isPanel(port.sender)) return port.disconnect();
  panels.set(port, 0);
  port.onMessage.addListener((message) => handle(port, message));
  port.onDisconnect.addListener(() => {
    panels.delete(port);
    if (!panels.size) unwatch();
  });
  return undefined;
});

function isPanel({ id, url } = {}) {
  return id === chrome.runtime.id && (url ?? '').split(/[?#]/)[0] === PANEL;
}

async function handle(port, message) {
  const { type, tab, number } = message;
  if (type === 'alive') return;
  if (type === 'show') return show(port, tab);
  const run = Object.hasOwn(COMMANDS, type) ? COMMANDS[type] : null;
  if (!run || !Number.isInteger(tab)) return;
  const answer = await run(tab, message);
  post(port, { type: 'answer', number, answer: answer ?? {} });
  if (/^(?:pair|configure|unpair)$/.test(type)) await tellSettings();
}

async function show(port, tab) {
  panels.set(port, tab);
  post(port, { type: 'state', state: panelState(await read(tab)) });
  post(port, { type: 'settings', settings: await shownSettings() });
  if ((await settings()).key) watch(tab);
}

function post(port, message) {
  try {
    port.postMessage(message);
  } catch {
    panels.delete(port); // it was closed
  }
}

onChange((state) => {
  for (const [port, tab] of panels) if (tab === state.tab) post(port, { type: 'state', state: panelState(state) });
  if (state.task?.phase === 'act' && state.task.rounds === 1) begun(state.tab);
  badge(state);
});

async function shownSettings() {
  const { gateway, key, name, models } = await settings();
  return { gateway, name, models, paired: Boolean(key) };
}

async function tellSettings() {
  const told = await shownSettings();
  unwatch();
  for (const [port, tab] of panels) {
    post(port, { type: 'settings', settings: told });
    if (told.paired && tab) watch(tab);
  }
}

// The button in the toolbar tells of each tab whether it is acted on.
function badge({ tab, status }) {
  const text = { running: '▶', asking: '?', permission: '!' }[status] ?? '';
  chrome.action.setBadgeText({ tabId: tab, text }).catch(() => {}); // the tab is gone
}

// -- pages that are acted on -------------------------------------------------------------------------------------------

chrome.runtime.onMessage.addListener((message, sender) => {
  const tab = sender.tab?.id;
  if (sender.id !== chrome.runtime.id || tab === undefined || isPanel(sender)) return;
  // All that a page is heard with: that a person has pressed Esc, and that this worker shall not fall asleep.
  if (message?.type === 'stop') stop(tab);
  else if (message?.type === 'alive') resumeAll();
});

chrome.runtime.onMessageExternal.addListener((message, sender, respond) => {
  pairByPage(message, sender).then(async (answer) => {
    respond(answer);
    await tellSettings();
  });
  return true;
});

// Pressing the button is leave to look at the page (activeTab); a browser that opened the panel by itself would give none.
chrome.action.onClicked.addListener((tab) => {
  chrome.sidePanel.open({ windowId: tab.windowId });
  resumeAllowed(tab.id);
});

async function resumeAllowed(tab) {
  if ((await read(tab)).status === 'permission') await resume(tab);
}

// -- tabs and the browser ----------------------------------------------------------------------------------------------

chrome.commands.onCommand.addListener(async (command, tab) => {
  if (command === 'stop' && tab?.id !== undefined) await stop(tab.id);
});

chrome.tabs.onRemoved.addListener(async (tab) => {
  halt(tab);
  await forget(tab);
});

// A tab has come to another page, for which the user may have given leave already.
chrome.tabs.onUpdated.addListener(async (tab, { status }) => {
  if (status !== 'complete') return;
  await resumeAll();
  await resumeAllowed(tab);
});

chrome.permissions.onAdded.addListener(async () => {
  for (const { tab } of await all()) await resumeAllowed(tab);
});
chrome.runtime.onStartup.addListener(() => resumeAll());

guard().then(resumeAll);
