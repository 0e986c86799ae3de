// Tells the site which control was hit, and makes another version of the page: what a control tells stays with it, whatever becomes of its
// names, its place and its mark-up. `version` is put in by the site.
const hit = (what) => {
  const told = new XMLHttpRequest();
  told.open('POST', '/flows/hit', false);
  told.send(what);
};
const say = (words) => {
  document.querySelector('[role=status]').textContent = words;
};
const all = (selector) => [...document.querySelectorAll(selector)];
const filled = (one) => one.matches('input:not([type=checkbox]), textarea, select');

function bind(one, key, says) {
  Object.assign(one, { key, says });
  one.addEventListener(filled(one) ? 'change' : 'click', (event) => {
    if (one.tagName === 'A') event.preventDefault();
    hit(key + (filled(one) && one.type !== 'password' ? `=${one.value}` : ''));
    if (one.says) say(one.says);
  });
  return one;
}

for (const one of all('[data-k]')) {
  bind(one, one.dataset.k, one.dataset.says);
  delete one.dataset.k;
  delete one.dataset.says;
}

// -- what versions are made of --------------------------------------------------------------------------------------

const main = document.querySelector('main'), part = (at) => all('main section')[at], ends = (one) => one.key === 'order' || one.key === 'join';

function make(tag, words, key) {
  const one = document.createElement(tag);
  one.textContent = words;
  return bind(one, key, '');
}

function call(names) {
  for (const one of all('button, label, a'))
    for (const node of one.childNodes) if (node.nodeType === Node.TEXT_NODE && names[node.data.trim()]) node.data = names[node.data.trim()];
}

function rename(to) {
  for (const one of all('[id]')) {
    const id = to(one.id);
    for (const label of all(`label[for="${one.id}"]`)) label.htmlFor = id;
    one.id = id;
  }
}

function drop(...names) {
  for (const name of names) for (const one of all(`[${name}]`)) one.removeAttribute(name);
}

// Another element in the place of each button.
function replaceButtons(tag, attributes) {
  for (const one of all('button')) {
    const made = bind(document.createElement(tag), one.key, one.says);
    made.textContent = one.textContent;
    for (const [name, value] of Object.entries({ ...attributes, ...(one.id && { id: one.id }) })) made.setAttribute(name, value);
    one.replaceWith(made);
  }
}

function section(heading, ...parts) {
  const made = document.createElement('section'), head = document.createElement('h2');
  head.textContent = heading;
  made.append(head, ...parts);
  return made;
}

function row(...parts) {
  const made = document.createElement('p');
  made.append(...parts);
  return made;
}

// -- the versions ---------------------------------------------------------------------------------------------------

const VERSIONS = {
  'renamed ids': () => rename((id) => `${id}-field-2`),
  'renamed ids and classes'() {
    rename((id) => `n${id.length}${id[0]}${id.at(-1)}`);
    for (const one of all('[class]')) one.className = `css-${one.className.length}`;
  },
  'no names at all'() {
    rename((id) => `k${id.charCodeAt(0)}${id.charCodeAt(1)}zq`);
    drop('name', 'data-testid');
  },
  'other test ids': () => all('[data-testid]').forEach((one, at) => one.setAttribute('data-testid', `cta-${90 - at}`)),
  'test ids of others'() {
    const marked = all('[data-testid]'), ids = marked.map((one) => one.dataset.testid);
    marked.forEach((one, at) => one.setAttribute('data-testid', ids[(at + 1) % ids.length]));
  },
  'blocks in another order': () => main.append(...all('main section').reverse()),
  'a block moved': () => document.querySelector('header').after(part(2)),
  'blocks in a sidebar'() {
    const aside = document.createElement('aside');
    aside.append(part(0));
    document.body.prepend(aside);
  },
  'other words on buttons': () =>
    call({ 'Add to cart': 'Add to basket', 'Place order': 'Place the order now', Book: 'Book a seat', Send: 'Send it', 'Join the club': 'Join our club' }),
  'other words on fields': () =>
    call({ 'Full name': 'Your full name', 'Email address': 'E-mail', 'User name': 'Member name', 'Your note': 'Note', Search: 'Search looms' }),
  'capitals'() {
    for (const one of all('button, label')) for (const node of one.childNodes) if (node.nodeType === Node.TEXT_NODE) node.data = node.data.toUpperCase();
  },
  'a second list'() {
    const rows = ['Spindle', 'Wool'].map((name) => row(`${name} `, ...['Add to cart', 'Book', 'Details'].map((words) => make('button', words, `twin:${words}`))));
    main.prepend(section('Seen lately', ...rows));
  },
  'a second form'() {
    const rows = ['Email address', 'Full name', 'User name'].map((words) => {
      const label = document.createElement('label');
      label.append(words, make('input', '', `twin:${words}`));
      return label;
    });
    main.append(section('Newsletter', row('Get our letter every month'), ...rows, make('button', 'Subscribe', 'twin:subscribe')));
  },
  'a list reversed'() {
    for (const list of all('ul')) list.append(...[...list.children].reverse());
  },
  'a list turned'() {
    for (const list of all('ul')) list.append(list.children[0], list.children[1]);
  },
  'a list with more'() {
    for (const list of all('ul')) {
      const item = document.createElement('li');
      item.append('Card loom, 9 EUR ', make('button', list.querySelector('button').textContent, 'twin:new'));
      list.prepend(item);
    }
  },
  'plain elements with roles': () => replaceButtons('div', { role: 'button', tabindex: '0', class: 'b' }),
  'links for buttons': () => replaceButtons('a', { href: '#', class: 'b' }),
  'a table for a list'() {
    for (const list of all('ul')) {
      const table = document.createElement('table');
      for (const item of list.children) {
        const line = table.insertRow();
        for (const node of [...item.childNodes]) line.insertCell().append(node);
      }
      list.replaceWith(table);
    }
  },
  'wrapped by a library'() {
    for (const one of all('button, input, select, textarea')) {
      const outer = document.createElement('div'), inner = document.createElement('span');
      one.replaceWith(outer);
      outer.append(inner);
      inner.append(one);
    }
  },
  'labels as attributes'() {
    for (const one of all('label[for]')) {
      document.getElementById(one.htmlFor).setAttribute('aria-label', one.textContent);
      one.remove();
    }
  },
  'drawn late'() {
    const rest = [...main.children];
    main.replaceChildren('Loading');
    setTimeout(() => {
      main.replaceChildren(...rest);
      rename((id) => `${id}9x`);
    }, 900);
  },
  // Several at a time.
  'a new design'() {
    VERSIONS['no names at all']();
    VERSIONS['a list reversed']();
    replaceButtons('div', { role: 'button', tabindex: '0', class: 'b' });
    main.append(...all('main section').reverse());
  },
  'a new design with twins'() {
    VERSIONS['a second list']();
    VERSIONS['a second form']();
    VERSIONS['renamed ids']();
    VERSIONS['a table for a list']();
  },
  'a new design in other words'() {
    VERSIONS['other words on buttons']();
    VERSIONS['other words on fields']();
    VERSIONS['renamed ids and classes']();
    VERSIONS['a list turned']();
  },
  'a new design in other words without names'() {
    VERSIONS['other words on buttons']();
    VERSIONS['no names at all']();
    main.append(...all('main section').reverse());
  },
  // What must stop: a twin that nothing tells from the control, no control, and another one in its place, with its id.
  'alike'() {
    for (const one of all('button').filter(ends)) {
      const made = bind(one.cloneNode(true), `twin:${one.key}`, '');
      made.removeAttribute('id');
      one.removeAttribute('id');
      one.after(made);
    }
  },
  'gone'() {
    for (const one of all('button').filter(ends)) one.remove();
  },
  'usurped'() {
    for (const one of all('button').filter(ends)) {
      const made = make('button', one.key === 'order' ? 'Empty cart' : 'Leave the club', 'twin:usurper');
      made.id = one.id;
      one.replaceWith(made);
    }
  },
};
if (version) VERSIONS[version]();
