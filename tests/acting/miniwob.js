// Begins an episode of a task by its seed, without the display of rewards, and tells what it asks and what it came to.
(() => {
  const asked = new URLSearchParams(location.search), { core } = globalThis;
  const EPISODE_MS = 3_600_000;

  function tell(what) {
    fetch(`/told/${asked.get('episode')}`, { method: 'POST', body: JSON.stringify(what), keepalive: true });
  }

  function begin() {
    Math.seedrandom(asked.get('seed'));
    core.EPISODE_MAX_TIME = EPISODE_MS;
    const { endEpisode } = core;
    core.endEpisode = (reward, ...others) => {
      if (core.EP_TIMER !== null) tell({ reward });
      endEpisode(reward, ...others);
      hideDisplay();
    };
    core.startEpisodeReal();
    hideDisplay();
    const goal = core.getUtterance();
    tell({ goal: goal.utterance ?? goal });
  }

  function hideDisplay() {
    core.clearTimer();
    for (const id of ['reward-display', 'click-canvas']) document.getElementById(id).style.display = 'none';
  }

  addEventListener('load', () => setTimeout(begin));
})();
