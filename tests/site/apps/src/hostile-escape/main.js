const within = (ms, promise) => Promise.race([promise, new Promise((_, fail) => setTimeout(() => fail(new Error('late')), ms))]);
const doors = {
  file: async () => (await fetch('file:///etc/passwd')).text(),
  frame: async () => {
    const frame = Object.assign(document.createElement('iframe'), { src: 'file:///etc/passwd' });
    document.body.append(frame);
    await new Promise((done) => { frame.onload = done; });
    return frame.contentDocument.body.textContent;
  },
  metadata: async () => (await fetch('http://169.254.169.254/latest/meta-data/', { mode: 'no-cors' })).type,
  private: async () => (await fetch('http://10.0.0.1/', { mode: 'no-cors' })).type,
  socket: () => new Promise((done, fail) => { const socket = new WebSocket('ws://10.0.0.1:9/'); socket.onopen = () => done('open'); socket.onerror = fail; }),
  redirect: async () => (await fetch('/redirect/private?to=http%3A%2F%2F10.0.0.1%2F', { mode: 'no-cors' })).type,
  process: async () => globalThis.process.env.HOME,
  require: async () => globalThis.require('fs').readFileSync('/etc/passwd', 'utf8'),
  constructor: async () => Function('return process')().env.HOME,
  opener: async () => { if (parent === window && !opener) throw new Error('none'); return parent.document.title; },
  origin: async () => { history.pushState(null, '', 'http://localhost/'); return document.cookie || location.href; },
};
for (const [name, open] of Object.entries(doors)) {
  const said = await within(1_000, open()).then(() => 'OPEN', () => 'shut');
  document.querySelector('ul').insertAdjacentHTML('beforeend', `<li>${name} ${said}</li>`);
}
