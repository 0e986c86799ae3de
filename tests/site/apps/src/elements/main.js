import { getThreads } from '../shared/data.js';

class SwatchCard extends HTMLElement {
  constructor() {
    super();
    this.attachShadow({ mode: 'open' }).append(document.getElementById('swatch').content.cloneNode(true));
  }
}

class SampleBook extends HTMLElement {
  static observedAttributes = ['count'];
  #root = this.attachShadow({ mode: 'open' });
  connectedCallback() {
    this.#root.innerHTML = '<slot name="head"></slot><slot></slot><div></div><footer></footer>';
    getThreads().then((threads) => this.fill(threads));
  }
  attributeChangedCallback(_, __, count) { this.#root.querySelector('footer').textContent = `${count} swatches were cut from the cloth.`; }
  fill(threads) {
    for (const thread of threads) {
      const card = document.createElement('swatch-card');
      card.innerHTML = `<span slot="name">${thread.name}</span>${thread.note}`;
      this.#root.querySelector('div').append(card);
    }
    this.setAttribute('count', threads.length);
  }
}

customElements.define('swatch-card', SwatchCard);
customElements.define('sample-book', SampleBook);
