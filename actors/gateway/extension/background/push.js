// Hears what happens in a session by the Pusher protocol (version 7), as far as a client of private channels needs it, and asks for messages
// where there is no push: after 3, 10, 30 and 60 seconds. Only while somebody looks at the session.
import { request } from './gateway.js';
import { change, read } from './store.js';

const POLLS_MS = [3000, 10_000, 30_000, 60_000];
const AGAIN_MS = [1000, 3000, 10_000, 30_000, 60_000];
const PATIENCE_MS = 30_000, MANY_MESSAGES = 200;
const FOR_GOOD = (code) => code >= 4000 && code < 4100;
let watched = null;

// Begins to hear of the session of a tab, and of no other any more.
export function watch(tab) {
  if (watched?.tab === tab) return;
  unwatch();
  watched = new Watch(tab);
  watched.begin();
}

// A session may have begun just now, which was none to be heard before.
export function begun(tab) {
  if (watched?.tab === tab && !watched.live) watched.load();
}

export function unwatch() {
  watched?.end();
  watched = null;
}

class Watch {
  constructor(tab) {
    Object.assign(this, { tab, over: false, polls: 0, tries: 0, socket: null, timer: 0, beat: 0, live: false, since: '', session: '', socketId: '', subscribed: '' });
  }

  async begin() {
    this.session = (await read(this.tab)).session;
    await this.load();
    this.connect();
    this.schedulePoll();
  }

  end() {
    this.over = true;
    clearTimeout(this.timer);
    clearTimeout(this.beat);
    this.socket?.close();
  }

  // -- polling -------------------------------------------------------------------------------------------------------

  schedulePoll() {
    clearTimeout(this.timer);
    if (this.over) return;
    // With push, now and then all the same: what was lost on the way is there.
    const wait = this.live ? POLLS_MS.at(-1) : POLLS_MS[Math.min(this.polls, POLLS_MS.length - 1)];
    this.polls += 1;
    this.timer = setTimeout(async () => {
      await this.load();
      this.schedulePoll();
    }, wait);
  }

  async load() {
    const { session } = await read(this.tab);
    if (session !== this.session) {
      Object.assign(this, { session, since: '' });
      await this.setLive(false);
    }
    try {
      const since = this.since ? `&since=${encodeURIComponent(this.since)}` : '';
      const { messages, sessionExists } = await request('GET', `/api/session/${session}/messages?limit=${MANY_MESSAGES}${since}`);
      if (messages.length) await this.merge(messages);
      if (sessionExists) await this.subscribe();
    } catch {
      // It is asked for again: that there is no answer stands in the note of the task.
    }
  }

  async merge(messages) {
    const state = await read(this.tab);
    if (this.over || state.session !== this.session) return;
    const known = new Map(state.messages.map((one) => [one.messageId, one]));
    for (const one of messages) known.set(one.messageId, { ...one, role: one.role ?? 'assistant' });
    const sorted = [...known.values()].sort((one, other) => one.sequenceNumber - other.sequenceNumber).slice(-MANY_MESSAGES);
    if (sorted.length > state.messages.length) this.polls = 0; // where something happens more does
    this.since = sorted.at(-1)?.timestamp ?? '';
    await change(this.tab, { messages: sorted });
  }

  // -- push ----------------------------------------------------------------------------------------------------------

  async connect() {
    if (this.over) return;
    try {
      const { enabled, key, host, port, path, tls } = await request('GET', '/api/pusher/config');
      if (!enabled) return;
      const url = `${tls ? 'wss' : 'ws'}://${host}:${port}${path ?? ''}/app/${encodeURIComponent(key)}?protocol=7&client=weft&version=1`;
      this.socket = new WebSocket(url);
      this.socket.onmessage = ({ data }) => this.receive(JSON.parse(data)).catch(() => this.socket?.close());
      this.socket.onclose = ({ code }) => this.closed(code);
    } catch {
      this.closed(0);
    }
  }

  async receive({ event, data, channel }) {
    this.restartHeartbeat();
    const content = typeof data === 'string' && data ? JSON.parse(data) : data ?? {};
    if (event === 'pusher:connection_established') {
      this.tries = 0;
      this.quietMs = 1000 * (content.activity_timeout ?? 120);
      this.socketId = content.socket_id;
      return this.load();
    }
    if (event === 'pusher:ping') return this.send('pusher:pong', {});
    if (channel !== `private-session-${this.session}`) return undefined;
    if (event === 'pusher_internal:subscription_succeeded') return this.setLive(true);
    if (event === 'new_message' && content.message?.messageId) return this.merge([content.message]);
    return event === 'interact_response' ? this.load() : undefined;
  }

  // Subscribes to the channel of the session, once there is one: of others nobody hears.
  async subscribe() {
    const channel = `private-session-${this.session}`;
    if (!this.socketId || this.subscribed === channel) return;
    if (this.subscribed) this.send('pusher:unsubscribe', { channel: this.subscribed });
    this.subscribed = channel;
    const { auth } = await request('POST', '/api/pusher/auth', { form: true, body: { socket_id: this.socketId, channel_name: channel } });
    this.send('pusher:subscribe', { channel, auth });
  }

  send(event, data) {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify({ event, data }));
  }

  // A connection that says nothing is asked whether it is there, and given up where it does not answer.
  restartHeartbeat() {
    clearTimeout(this.beat);
    this.beat = setTimeout(() => {
      this.send('pusher:ping', {});
      this.beat = setTimeout(() => this.socket?.close(), PATIENCE_MS);
    }, Math.min(this.quietMs ?? 20_000, 20_000));
  }

  async closed(code) {
    clearTimeout(this.beat);
    Object.assign(this, { socket: null, socketId: '', subscribed: '' });
    await this.setLive(false);
    if (this.over || FOR_GOOD(code)) return;
    setTimeout(() => this.connect(), AGAIN_MS[Math.min(this.tries++, AGAIN_MS.length - 1)]);
  }

  async setLive(live) {
    if (this.over || this.live === live) return;
    this.live = live;
    this.polls = 0;
    await change(this.tab, { push: live ? 'on' : 'off' });
    if (live) await this.load();
    this.schedulePoll();
  }
}
