// The console: lets somebody in by a key, and shows the pages that the key is good for.
import { html, render, useEffect, useErrorBoundary, useRef, useState } from './htm.js';
import { ApiError, forgetKey, get, keepKey, key } from './api.js';
import { Failure, Loading, Title } from './parts.js';
import { link, useRoute } from './router.js';
import { forgetSamples } from './system.js';
import { Actors } from './pages/actors.js';
import { Approvals } from './pages/approvals.js';
import { Bus } from './pages/bus.js';
import { Browser, Browsers } from './pages/browsers.js';
import { Collection, Collections } from './pages/collections.js';
import { Conversation, Conversations } from './pages/conversations.js';
import { Crawl, Crawls } from './pages/crawls.js';
import { Home } from './pages/home.js';
import { Keys } from './pages/keys.js';
import { Logins } from './pages/logins.js';
import { Page } from './pages/page.js';
import { Pattern, Patterns } from './pages/patterns.js';
import { RecordedConversation, Recordings } from './pages/recordings.js';
import { Routes } from './pages/routes.js';
import { Run } from './pages/run.js';
import { Runs } from './pages/runs.js';
import { Settings } from './pages/settings.js';
import { Tap } from './pages/tap.js';
import { Visit, Visits } from './pages/visits.js';

// Each page by the first part of its address, and what shows `one` of its things by the second; a key is offered those of its scopes.
const PAGES = {
  '': { name: 'Home', view: Home },
  page: { name: 'Read a page', view: Page, scope: 'browse' },
  visits: { name: 'History', view: Visits, one: Visit, scope: 'browse' },
  runs: { name: 'Runs', view: Runs, one: Run, scope: 'runs' },
  approvals: { name: 'Approvals', view: Approvals, one: Approvals, scope: 'browse' },
  conversations: { name: 'Conversations', view: Conversations, one: Conversation, scope: 'browse' },
  collections: { name: 'Collections', view: Collections, one: Collection, scope: 'collections' },
  crawls: { name: 'Crawls', view: Crawls, one: Crawl, scope: 'runs' },
  browsers: { name: 'Browsers', view: Browsers, one: Browser, scope: 'browser' },
  logins: { name: 'Logins', view: Logins, scope: 'sessions' },
  patterns: { name: 'Patterns', view: Patterns, one: Pattern, scope: 'browse' },
  actors: { name: 'Actors', view: Actors, scope: 'operate' },
  recordings: { name: 'Recordings', view: Recordings, one: RecordedConversation, scope: 'operate' },
  bus: { name: 'Bus', view: Bus, one: Tap, scope: 'operate' },
  routes: { name: 'Routes', view: Routes, scope: 'operate' },
  settings: { name: 'Settings', view: Settings, scope: 'operate' },
  keys: { name: 'Keys', view: Keys, scope: 'operate' },
};

function Login({ refused, entered }) {
  const [text, setText] = useState(''), [busy, setBusy] = useState(false), [error, setError] = useState(refused);
  const field = useRef(null);
  useEffect(() => {
    document.title = 'Log in · Weft';
    field.current.focus();
  }, []);
  const enter = async (event) => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    keepKey(text.trim());
    try {
      entered(await get('/api/me'));
    } catch (failure) {
      forgetKey();
      setError(failure.status === 401 ? new ApiError(401, { error: 'This key is not known, or is good no more.' }) : failure);
      setBusy(false);
      field.current.focus();
    }
  };
  return html`<main class="login">
    <form class="card" onSubmit=${enter}>
      <img src="/console/weft.svg" width="48" height="48" alt="" />
      <h1>Weft</h1>
      <p class="soft">A web that LLM agents can trust. Your key opens the console; it stays in this tab and goes when you close it.</p>
      <label for="key">Key</label>
      <input id="key" type="password" autocomplete="off" spellcheck="false" required value=${text} ref=${field}
        aria-describedby="key-about" aria-invalid=${error ? 'true' : 'false'} onInput=${(event) => setText(event.currentTarget.value)} />
      <p id="key-about" class="soft"><code>weft up</code> says which file has the first one.</p>
      ${error && html`<p class="bad" role="alert">${error.message}</p>`}
      <button class="primary" disabled=${busy}>${busy ? 'Looking…' : 'Log in'}</button>
    </form>
    <p class="soft"><a href="/docs">Every endpoint</a> · <a href="/readyz">Readiness</a></p>
  </main>`;
}

function Menu({ me, route, leave }) {
  const [open, setOpen] = useState(false);
  useEffect(() => setOpen(false), [route.hash]);
  const rows = Object.entries(PAGES).filter(([, page]) => !page.scope || me.scopes.includes(page.scope));
  return html`<header class="side">
    <a class="brand" href=${link('')}><img src="/console/weft.svg" width="28" height="28" alt="" /><span>Weft</span><small>${me.version}</small></a>
    <button type="button" class="menu-button" aria-expanded=${open} aria-controls="menu" onClick=${() => setOpen(!open)}>Menu</button>
    <div id="menu" class=${open ? 'open' : ''}>
      <nav aria-label="Pages"><ul>${rows.map(([path, page]) => html`<li>
        <a href=${link(path)} aria-current=${route.parts[0] === path ? 'page' : null}>${page.name}</a></li>`)}</ul></nav>
      <div class="who"><span>Key <b>${me.name}</b></span><button type="button" class="small" onClick=${leave}>Log out</button></div>
    </div>
  </header>`;
}

function Shell({ me, leave }) {
  const route = useRoute(), page = PAGES[route.parts[0]];
  const there = page && (route.parts.length === 1 ? page.view : route.parts.length === 2 && page.one);
  const view = there ? (!page.scope || me.scopes.includes(page.scope) ? there : Closed) : Nowhere;
  const skip = (event) => {
    event.preventDefault();
    document.querySelector('h1')?.focus();
  };
  return html`<a class="skip" href="#main" onClick=${skip}>Skip to the page</a>
    <${Menu} me=${me} route=${route} leave=${leave} />
    <main id="main" key=${route.parts.join('/')}><${Drawn}><${view} me=${me} route=${route} scope=${page?.scope} /><//></main>`;
}

// What goes wrong in the drawing of a page leaves all others usable.
function Drawn({ children }) {
  const [error, again] = useErrorBoundary();
  return error ? html`<${Title}>This page cannot be drawn<//><${Failure} error=${error} again=${again} />` : children;
}

const Nowhere = () => html`<${Title}>There is no such page<//><p><a href=${link('')}>Home</a></p>`;
const Closed = ({ scope }) => html`<${Title}>Not with this key<//>
  <p>This page needs a key with the scope <code>${scope}</code>. <a href=${link('')}>Home</a></p>`;

function Console() {
  const [me, setMe] = useState(null), [refused, setRefused] = useState(null), [error, setError] = useState(null), [turn, setTurn] = useState(0);
  const leave = (why) => {
    forgetKey();
    forgetSamples();
    setMe(null);
    setRefused(why instanceof Error ? why : null);
  };
  useEffect(() => {
    const ended = () => leave(new ApiError(401, { error: 'This key is good no more. Log in with another.' }));
    addEventListener('weft-key-refused', ended);
    return () => removeEventListener('weft-key-refused', ended);
  }, []);
  useEffect(() => {
    setError(null);
    if (key()) get('/api/me').then(setMe, (failure) => failure.status !== 401 && setError(failure));
  }, [turn]);
  if (me) return html`<${Shell} me=${me} leave=${leave} />`;
  if (error) return html`<main class="login"><${Failure} error=${error} again=${() => setTurn(turn + 1)} /></main>`;
  if (key() && !refused) return html`<main class="login"><${Loading} /></main>`;
  return html`<${Login} refused=${refused} entered=${setMe} />`;
}

render(html`<${Console} />`, document.getElementById('app'));
