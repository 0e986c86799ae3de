// What every app asks the site for.

async function ask(path) {
  const answer = await fetch(`/apps/api/${path}`);
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
  return answer.json();
}

export const getThreads = () => ask('threads');
export const getThread = (id) => ask(`threads/${id}`);
export const getNotes = () => ask('notes');
export const getArticle = () => ask('article');
export const price = (cents) => `${(cents / 100).toFixed(2)} EUR`;
