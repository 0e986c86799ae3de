addEventListener('install', () => skipWaiting());
addEventListener('activate', (event) => event.waitUntil(clients.claim()));
addEventListener('fetch', (event) => {
  if (event.request.url.endsWith('/kept')) event.respondWith(fetch('/apps/api/notes'));
});
