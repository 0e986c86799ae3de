import { html, LitElement, css } from 'lit';
import { getThreads, price } from '../shared/data.js';

class ThreadCard extends LitElement {
  static properties = { name: {}, cents: { type: Number } };
  static styles = css`:host { display: block }`;
  render() { return html`<h2>${this.name}</h2><p><slot></slot></p><b>${price(this.cents)}</b>`; }
}

class ThreadShelf extends LitElement {
  static properties = { threads: { state: true } };
  constructor() { super(); this.threads = []; }
  connectedCallback() { super.connectedCallback(); getThreads().then((threads) => { this.threads = threads; }); }
  render() {
    return html`<h1>The shelf behind the counter</h1>
      <p>Nothing on this shelf is for sale before it has hung in the wind for a night.</p>
      ${this.threads.map((thread) => html`<thread-card name=${thread.name} .cents=${thread.cents}>${thread.note}</thread-card>`)}
      <slot name="close"></slot>`;
  }
}

customElements.define('thread-card', ThreadCard);
customElements.define('thread-shelf', ThreadShelf);
document.getElementById('root').innerHTML = '<thread-shelf><p slot="close">The counter closes when the light goes.</p></thread-shelf>';
