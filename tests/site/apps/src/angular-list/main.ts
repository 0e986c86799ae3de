import '@angular/compiler';
import { Component, provideZonelessChangeDetection, signal } from '@angular/core';
import { bootstrapApplication } from '@angular/platform-browser';
import { getThreads, price } from '../shared/data.js';

@Component({
  selector: 'mill-shop',
  template: `
    <h1>The order book</h1>
    <p>An order is good when the buyer has touched the cloth and named the month in which it shall be worn.</p>
    @for (thread of threads(); track thread.id) {
      <section><h2>{{ thread.name }}</h2><p>{{ thread.note }}</p><b>{{ price(thread.cents) }}</b></section>
    } @empty {
      <p>No order has been entered yet</p>
    }`,
})
class Shop {
  threads = signal<any[]>([]);
  price = price;
  constructor() { getThreads().then((found: any[]) => this.threads.set(found)); }
}

document.getElementById('root')!.innerHTML = '<mill-shop></mill-shop>';
bootstrapApplication(Shop, { providers: [provideZonelessChangeDetection()] });
