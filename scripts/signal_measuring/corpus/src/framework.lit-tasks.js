import { html, LitElement } from 'lit';
import { repeat } from 'lit/directives/repeat.js';
import { until } from 'lit/directives/until.js';
import { getNotes, getThreads, put } from '../page.js';

customElements.define('all-threads', class extends LitElement {
  createRenderRoot() { return this; }
  render() { return html`${until(getThreads().then((threads) => repeat(threads, ({ id }) => id, (thread) => html`<p>${thread.name}: ${thread.note}</p>`)), html`<p>Asking</p>`)}<note-list></note-list>`; }
});
customElements.define('note-list', class extends LitElement {
  static properties = { notes: {} };
  async firstUpdated() { this.notes = await getNotes(); }
  render() { return this.notes?.map((note) => html`<h2>${note.title}</h2>`); }
});
put('<all-threads></all-threads>');
