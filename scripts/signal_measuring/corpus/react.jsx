// What the pages on React share.
import { useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { getNotes, getThreads } from './page.js';

export * from './page.js';

export const show = (element) => createRoot(document.getElementById('root')).render(element);

function useAsked(ask) {
  const [found, setFound] = useState([]);
  useEffect(() => void ask().then(setFound), [ask]);
  return found;
}

export const useThreads = () => useAsked(getThreads);
export const useNotes = () => useAsked(getNotes);
