// Counts what nodes take, ranks them by a query, and keeps those that fit.
weft.part((view) => {
  const CHARS_PER_TOKEN = 4, FEWEST = 10, IMPORTANT = 0.2, NEAR = 0.15, PLACE = 0.1;
  const RAG = { nodes: 100, tokens: 3000, kept: 50, keptTokens: 2000, least: 0.1, tall: 200, many: 20 };
  const WEIGHT = { text: 0, img: 0, h: 0.1 };
  const STOP = new Set(['the', 'and', 'for', 'with', 'from', 'into', 'that', 'this', 'then', 'what', 'which', 'are', 'you', 'your', 'click', 'press', 'page']);

  const tokensOf = (node) => Math.ceil((JSON.stringify(node).length + 1) / CHARS_PER_TOKEN);
  const sum = (nodes) => nodes.reduce((all, node) => all + tokensOf(node), 0);
  const stem = (word) => (word.length > 4 ? word.replace(/(?:ing|ed|es|s)$/, '') : word);

  function wordsOf(text) {
    const found = (text ?? '').normalize('NFKC').toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
    return found.filter((word) => !STOP.has(word)).map(stem);
  }

  // How near each node is to a query: shares of its words, the worth of its role, its neighbours and its place.
  function scored(nodes, query) {
    const asked = new Set(wordsOf(query));
    const hits = nodes.map((node) => {
      if (!asked.size) return 0;
      const said = new Set(wordsOf(`${node.n} ${node.t ?? ''} ${node.v ?? ''} ${node.c ?? ''} ${node.sh ?? ''}`));
      let fits = 0;
      for (const word of asked) if (said.has(word)) fits += 1;
      return fits && (fits / asked.size + fits / said.size) / 2;
    });
    return nodes.map((node, index) => {
      const beside = Math.max(hits[index - 1] ?? 0, hits[index + 1] ?? 0) > 0 ? NEAR : 0;
      const own = hits[index] + (WEIGHT[node.r] ?? IMPORTANT) + (hits[index] ? 0 : beside) + PLACE * (1 - index / nodes.length);
      return { node, index, score: node.occ ? own / 2 : own, relevance: hits[index] };
    });
  }

  // The nodes that fit, in the order of the page; `next` names where those begin that did not.
  function pack({ nodes, query = '', max_tokens: most = null, after = '' }) {
    const from = Number(after) || 0, rest = nodes.slice(from);
    const whole = most === null || !from ? sum(rest) : Infinity;
    if (most === null || whole <= most) return { nodes: rest, left_out: 0, next: '', tokens: whole };
    const ranked = scored(nodes, query).sort((one, other) => other.score - one.score || one.index - other.index).slice(from);
    const kept = [];
    let size = 0;
    for (const one of ranked) {
      const own = tokensOf(one.node);
      if (size + own > most && kept.length >= FEWEST) break;
      kept.push(one);
      size += own;
    }
    const left = ranked.length - kept.length;
    kept.sort((one, other) => one.index - other.index);
    return { nodes: kept.map((one) => one.node), left_out: left, next: left ? String(from + kept.length) : '', tokens: size };
  }

  // Groups nodes that stand together: so many pixels of the page, or so many of them.
  function chunks(scores) {
    const groups = [];
    for (const one of scores) {
      const top = one.node.xy?.[1] ?? 0, last = groups.at(-1);
      if (last && last.nodes.length < RAG.many && Math.abs(top - last.top) <= RAG.tall) last.nodes.push(one);
      else groups.push({ top, nodes: [one] });
    }
    return groups;
  }

  // Filters a tree that is too large to be sent whole; what is kept stays in the order of the page.
  function rag({ nodes, query = '' }) {
    const tokens = sum(nodes);
    const whole = { nodes, dom_filtered: false, filter_reason: '', original_node_count: nodes.length, token_reduction: 0 };
    if (nodes.length <= RAG.nodes && tokens <= RAG.tokens) return whole;
    const scores = scored(nodes, query);
    for (const { nodes: together } of chunks(scores)) {
      const best = Math.max(...together.map((one) => one.relevance));
      for (const one of together) one.relevance = Math.max(one.relevance, best / 2) + (WEIGHT[one.node.r] ?? IMPORTANT);
    }
    const ranked = scores.sort((one, other) => other.relevance - one.relevance || other.score - one.score);
    const kept = [];
    let size = 0;
    for (const one of ranked) {
      const own = tokensOf(one.node);
      if (kept.length >= FEWEST && (kept.length >= RAG.kept || size + own > RAG.keptTokens || one.relevance < RAG.least)) break;
      kept.push(one);
      size += own;
    }
    kept.sort((one, other) => one.index - other.index);
    const reason = nodes.length > RAG.nodes ? `${nodes.length} nodes` : `${tokens} tokens`;
    return { nodes: kept.map((one) => one.node), dom_filtered: true, filter_reason: reason, original_node_count: nodes.length, token_reduction: Math.round((1 - size / tokens) * 100) };
  }

  Object.assign(view, { pack, rag, tokensOf });
});
