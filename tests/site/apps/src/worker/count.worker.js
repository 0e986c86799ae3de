addEventListener('message', ({ data }) => {
  postMessage(data.map((thread) => ({ ...thread, knots: [...thread.name].reduce((sum, letter) => sum + letter.charCodeAt(0), 0) })));
});
