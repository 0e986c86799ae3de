import '@angular/compiler';
import { Component, provideZonelessChangeDetection, signal } from '@angular/core';
import { bootstrapApplication } from '@angular/platform-browser';
import { START, key, onRows } from '../shared/rows.js';

@Component({
  selector: 'mill-store',
  template: `
    <main>
      <h1>The store room</h1>
      <input class="filter" placeholder="Filter">
      <select class="order" aria-label="Order"><option>Name</option><option>Use</option></select>
      <ul>
        @for (item of state().items; track key(state(), item, $index)) {
          <li class="row">
            <strong>{{ item.name }}</strong> <span>{{ item.note }}</span>
            <label><input class="tick" type="checkbox" [checked]="item.ready"> Ready</label>
            <button type="button" class="used">Used {{ item.used }} times</button>
            <button type="button" class="remove">Remove</button>
          </li>
        }
      </ul>
      <button type="button" class="add">Add</button>
    </main>`,
})
class Store {
  state = signal<any>(START);
  key = key;
  constructor() { onRows((next: any) => this.state.set(next)); }
}

document.getElementById('root')!.innerHTML = '<mill-store></mill-store>';
bootstrapApplication(Store, { providers: [provideZonelessChangeDetection()] });
