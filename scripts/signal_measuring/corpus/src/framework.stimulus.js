import { Application, Controller } from '@hotwired/stimulus';
import { getThreads, put } from '../page.js';

put('<div data-controller="shelf"><ul data-shelf-target="list"></ul></div>');
class Shelf extends Controller {
  static targets = ['list'];
  async connect() { this.listTarget.innerHTML = (await getThreads()).map((thread) => `<li>${thread.name}: ${thread.note}</li>`).join(''); }
}
Application.start().register('shelf', Shelf);
