const held = [];
for (;;) held.push(new ArrayBuffer(1 << 24), new Array(1e6).fill(held.length));
