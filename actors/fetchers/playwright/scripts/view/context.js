// Tells controls that are called alike apart by the words near them: their row, their cell, what stands before them.
weft.part((view) => {
  const CHARS = 40, MANY_ROWS = 300;
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

  const tells = (items, words) => {
    const told = items.map(words);
    return told.some(Boolean) && new Set(told).size > 1;
  };

  const WAYS = [
    (item) => item.find.sig.context, (item) => item.before, (item) => columnOf(item.find.element),
    (item) => (item.find.sig.region === 'page' ? '' : item.find.sig.region.replace(/[:_]/g, ' ')),
  ];

  // Gives peers that are called the same what tells them apart, and the unnamed what stands beside them.
  function tell(items) {
    const controls = items.filter((item) => item.find), groups = new Map();
    before(items);
    for (const item of controls) {
      if (!groups.has(key(item))) groups.set(key(item), []);
      groups.get(key(item)).push(item);
    }
    for (const peers of groups.values()) {
      if (peers.length === 1 && peers[0].node.n) continue;
      for (const way of WAYS) {
        if (peers.length > 1 ? !tells(peers, way) : !way(peers[0])) continue;
        for (const item of peers) {
          const words = view.clean(way(item), CHARS);
          if (words && words !== item.node.n) item.node.t = item.node.t ? `${item.node.t} · ${words}` : words;
        }
        break;
      }
    }
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
