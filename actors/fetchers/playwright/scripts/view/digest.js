// Digests text by SHA-256 (FIPS 180-4): the browser's own answers later, and only in secure contexts.
weft.part((view) => {
  function sha256(message) {
    const K = [], H = [];
    for (let number = 2; K.length < 64; number++) {
      let prime = true;
      for (let factor = 2; factor * factor <= number; factor++) if (number % factor === 0) prime = false;
      if (!prime) continue;
      if (H.length < 8) H.push((number ** (1 / 2) * 2 ** 32) | 0);
      K.push((number ** (1 / 3) * 2 ** 32) | 0);
    }
    const bytes = new TextEncoder().encode(message);
    const padded = new Uint8Array((((bytes.length + 8) >> 6) + 1) << 6);
    padded.set(bytes);
    padded[bytes.length] = 0x80;
    const data = new DataView(padded.buffer);
    data.setUint32(padded.length - 8, Math.floor((bytes.length * 8) / 2 ** 32));
    data.setUint32(padded.length - 4, (bytes.length * 8) >>> 0);
    const turn = (value, by) => (value >>> by) | (value << (32 - by));
    const W = new Int32Array(64);
    for (let at = 0; at < padded.length; at += 64) {
      for (let i = 0; i < 16; i++) W[i] = data.getInt32(at + i * 4);
      for (let i = 16; i < 64; i++) {
        const before = turn(W[i - 15], 7) ^ turn(W[i - 15], 18) ^ (W[i - 15] >>> 3), after = turn(W[i - 2], 17) ^ turn(W[i - 2], 19) ^ (W[i - 2] >>> 10);
        W[i] = (W[i - 16] + before + W[i - 7] + after) | 0;
      }
      let [a, b, c, d, e, f, g, h] = H;
      for (let i = 0; i < 64; i++) {
        const one = (h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + K[i] + W[i]) | 0;
        const two = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
        [a, b, c, d, e, f, g, h] = [(one + two) | 0, a, b, c, (d + one) | 0, e, f, g];
      }
      [a, b, c, d, e, f, g, h].forEach((value, i) => { H[i] = (H[i] + value) | 0; });
    }
    return H.map((value) => (value >>> 0).toString(16).padStart(8, '0')).join('');
  }

  Object.assign(view, { sha256 });
});
