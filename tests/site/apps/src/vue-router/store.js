import { defineStore } from 'pinia';
import { getNotes } from '../shared/data.js';

export const useNotes = defineStore('notes', {
  state: () => ({ notes: [] }),
  getters: { words: (state) => state.notes.reduce((sum, note) => sum + note.text.split(' ').length, 0) },
  actions: { async read() { this.notes = await getNotes(); } },
});
