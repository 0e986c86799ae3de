import { html, LitElement } from 'lit';
import { put } from '../page.js';

customElements.define('rate-line', class extends LitElement { static properties = { stars: { type: Number } }; render() { return html`<p>Rated ${this.stars} of 5 by those who have slept under it</p>`; } });
put('<rate-line stars="4"></rate-line>');
