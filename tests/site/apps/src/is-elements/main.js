import { getThreads } from '../shared/data.js';

class ThreadList extends HTMLUListElement {
  async connectedCallback() {
    for (const thread of await getThreads()) this.insertAdjacentHTML('beforeend', `<li>${thread.name}: ${thread.note}</li>`);
  }
}
customElements.define('thread-list', ThreadList, { extends: 'ul' });
