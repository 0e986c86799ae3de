// Tells controls that are called alike apart by the words near them: their row, their cell, what stands before them.
weft.part((view) => {
  const CHARS = 40, MANY_ROWS = 300, MANY_UP = 12, MANY_PEERS = 80, MANY_NODES = 150;
  const key = (item) => `${item.node.r}\u0001${item.node.n.toLowerCase()}`;

  // The head of the column that an element stands in, where its table has one.
  function columnOf(element) {
    const cell = element.closest('td, [role="cell"], [role="gridcell"]');
    const table = cell?.closest('table');
    if (!(cell instanceof HTMLTableCellElement) || !table?.rows?.length || table.rows.length > MANY_ROWS) return '';
    const head = table.rows[0].cells[cell.cellIndex];
    return head && head !== cell && view.tag(head) === 'th' ? view.textOf(head, CHARS) : '';
  }

  // The words that stand before each item, and how far those before it reach.
  function before(items) {
    let last = '';
    for (const item of items) {
      if (item.find) item.before = last;
      else if (item.words) last = item.words;
    }
  }

  // The largest part of the page around a control that holds none of its peers: its row, its card.
  function cardOf({ find }, peers) {
    let card = find.element;
    for (let node = view.above(card), up = 0; node && up < MANY_UP; node = view.above(node), up++) {
      if (peers.some((peer) => peer.find !== find && node.contains(peer.find.element))) break;
      card = node;
    }
    return card;
  }

  // What stands in a card beside its controls, links among the words.
  function cardWords(item, peers, controls) {
    if (peers.length > MANY_PEERS) return '';
    const parts = [];
    const enter = (node) => node !== item.find.element && (controls.get(node)?.kind ?? 'link') === 'link' && view.shows(node);
    for (const node of view.nodes(cardOf(item, peers), enter, MANY_NODES)) {
      if (node.nodeType === Node.TEXT_NODE) parts.push(node.data);
      else if (view.isElement(node) && !view.INLINE.has(view.tag(node))) parts.push(' ');
    }
    return view.clean(parts.join(''), CHARS);
  }

  const regionWords = ({ find }) => (find.sig.region === 'page' ? '' : find.sig.region.replace(/[:_]/g, ' '));

  // The words that tell most of the peers apart: of their rows, of their cards, before them, of their columns, of their regions.
  function telling(peers, controls) {
    const ways = [(one) => one.find.sig.context, (one) => cardWords(one, peers, controls), (one) => one.before, (one) => columnOf(one.find.element), regionWords];
    let best = [], most = 1;
    for (const way of ways) {
      const words = peers.map(way), count = new Set(words).size;
      if (count > most) [best, most] = [words, count];
      if (most === peers.length) break;
    }
    return best;
  }

  // Gives peers that are called the same what tells them apart, and the unnamed what stands before them.
  function tell(items) {
    const controls = new Map(), groups = new Map();
    before(items);
    for (const item of items) {
      if (!item.find) continue;
      controls.set(item.find.element, item.find);
      if (!groups.has(key(item))) groups.set(key(item), []);
      groups.get(key(item)).push(item);
    }
    for (const peers of groups.values()) {
      if (peers.length === 1 && peers[0].node.n) continue;
      const words = peers.length > 1 ? telling(peers, controls) : [peers[0].find.sig.context || peers[0].before];
      peers.forEach(({ node }, index) => add(node, view.clean(words[index] ?? '', CHARS)));
    }
  }

  function add(node, words) {
    if (words && words !== node.n) node.t = node.t ? `${node.t} · ${words}` : words;
  }

  // Which column the words of a cell belong to.
  function headed(items) {
    for (const { node, element } of items) {
      if (!element || node.r !== 'text') continue;
      const words = columnOf(element);
      if (words && words !== node.n) node.t = words;
    }
  }

  Object.assign(view, { tell, headed });
});
