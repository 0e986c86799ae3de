import { Router } from '@vaadin/router';
import { getThreads, root } from '../page.js';

customElements.define('home-view', class extends HTMLElement {
  async connectedCallback() { this.innerHTML = (await getThreads()).map((thread) => `<p>${thread.name}: ${thread.note}</p>`).join(''); }
});
new Router(root(), { baseUrl: '/corpus/router.vaadin/' }).setRoutes([{ path: '(.*)', component: 'home-view' }]);
