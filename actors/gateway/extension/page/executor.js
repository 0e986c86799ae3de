// Gathers what the extension does in a page: it runs in a world of its own beside the page code, whose parts see none of the page's
// scripts and are seen by none. A call names a function of the parts; without a call nothing runs.
globalThis.weftExecutor ??= (() => {
  const executor = { looked: new Map(), turn: 0 };

  function part(one) {
    one(executor);
  }

  class Refused extends Error {
    constructor(code, message) {
      super(message);
      this.code = code;
    }
  }

  // What a call comes to; a refusal says why nothing was done.
  async function call(name, args) {
    try {
      return { result: await executor[name](args ?? {}) };
    } catch (error) {
      if (error instanceof Refused) return { refused: { code: error.code, message: error.message } };
      return { refused: { code: 'FAILED', message: String(error?.message ?? error).slice(0, 200) } };
    }
  }

  Object.assign(executor, {
    refuse(code, message) {
      throw new Refused(code, message);
    },
    // What was begun before somebody has stopped it is not gone on with.
    guard(turn) {
      if (turn !== executor.turn) throw new Refused('STOPPED', 'It was stopped.');
    },
    // Between two steps of one action: timers of hidden pages are slow, so nothing waits for a frame that is never drawn.
    pause: (ms) => new Promise((done) => setTimeout(done, ms)),
  });
  return { part, call };
})();
