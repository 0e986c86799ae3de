// Draws the session of a tab. Whatever a page or a model has written stands here as text, never as markup.
const WORDS = { idle: 'Ready', running: 'At work', asking: 'Waits for you', permission: 'Waits for you', stopped: 'Stopped', done: 'Done', failed: 'Failed' };
const STEP_WORDS = { completed: 'done', active: 'now', failed: 'failed', pending: '' };
const TURN_WORDS = { success: '✅ done', error: '❌ not done', pending: '… under way' };
const OPEN = new Set(['stopped', 'failed']);
const $ = (id) => document.getElementById(id);
let drawn = { turns: '', plan: '', messages: '', question: '', tab: 0 };

function element(name, { text, className, ...attributes } = {}, ...children) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

// Draws anew what is other than before, so that who reads or listens is not disturbed.
function changed(part, value) {
  const now = JSON.stringify(value);
  if (drawn[part] === now) return false;
  drawn[part] = now;
  return true;
}

export function draw(state, { choose }) {
  if (drawn.tab !== state.tab) drawn = { turns: '', plan: '', messages: '', question: '', tab: state.tab };
  document.body.dataset.push = state.push; // whether messages come by themselves
  const busy = state.status === 'running', words = WORDS[state.status] ?? state.status;
  if ($('status').textContent !== words) $('status').textContent = words;
  $('status').className = { done: 'success', failed: 'error' }[state.status] ?? '';
  $('stop').hidden = !busy && state.status !== 'permission';
  $('start').hidden = busy;
  $('resume').hidden = !OPEN.has(state.status) || !state.query;
  $('again').hidden = busy || state.status === 'idle';
  $('permission').hidden = state.status !== 'permission';
  $('allow-site').hidden = !state.origin;
  $('allow-site').textContent = state.origin ? `Allow ${state.origin.replace(/^https?:\/\/|\/\*$/g, '')}` : '';
  if ($('note').textContent !== state.note) $('note').textContent = state.note;
  if (changed('plan', [state.plan, busy])) drawPlan(state.plan, busy);
  if (changed('turns', state.turns)) drawTurns(state.turns);
  if (changed('messages', state.messages)) drawMessages(state.messages);
  if (changed('question', state.question)) drawQuestion(state.question, choose);
}

function drawPlan(plan, busy) {
  $('plan-section').hidden = !plan && !busy;
  if (!plan) return $('plan').replaceChildren(element('li', { text: 'Planning…' }));
  const steps = plan.steps.map((step, index) => {
    const current = index === plan.currentStepIndex && step.status !== 'completed';
    const state = STEP_WORDS[step.status] ?? '';
    const made = element('li', { className: step.status, ...(current ? { 'aria-current': 'step' } : {}) }, step.description);
    if (state) made.append(' ', element('span', { className: 'mark', text: `(${state})` }));
    return made;
  });
  return $('plan').replaceChildren(...steps);
}

function drawTurns(turns) {
  $('empty').hidden = turns.length > 0;
  const log = $('log'), open = new Set([...log.querySelectorAll('details[open]')].map((one) => one.dataset.turn));
  const bottom = document.querySelector('main');
  const follows = bottom.scrollHeight - bottom.scrollTop - bottom.clientHeight < 80;
  log.replaceChildren(...turns.map((turn, index) => turnOf(turn, index, open)));
  if (follows) bottom.scrollTop = bottom.scrollHeight;
}

function turnOf(turn, index, open) {
  if (turn.user !== undefined) return element('li', { className: 'user' }, element('span', { className: 'mark', text: 'You: ' }), turn.user);
  if (turn.end) {
    const good = turn.end === 'done';
    return element('li', {}, element('span', { className: good ? 'mark success' : 'mark error', text: good ? '✅ Completed: ' : '❌ Failed: ' }), turn.thought);
  }
  const made = element('li');
  if (turn.thought) {
    const details = element('details', { 'data-turn': index }, element('summary', { text: 'Thought' }), element('p', { text: turn.thought }));
    details.open = open.has(String(index));
    made.append(details);
  }
  made.append(element('code', { text: turn.action }));
  const says = element('p', {}, element('span', { className: `mark ${turn.status}`, text: TURN_WORDS[turn.status] ?? turn.status }));
  if (turn.observation) says.append(' ', turn.observation);
  made.append(says);
  return made;
}

function drawMessages(messages) {
  $('messages-section').hidden = !messages.length;
  $('messages-title').textContent = `Messages of this session that Weft keeps (${messages.length})`;
  const shown = messages.map(({ role, content, actionString }) => {
    const made = element('li', { className: role === 'user' ? 'user' : '' }, element('span', { className: 'mark', text: role === 'user' ? 'You: ' : 'Weft: ' }), content ?? '');
    if (actionString) made.append(' ', element('code', { text: actionString }));
    return made;
  });
  $('messages').replaceChildren(...shown);
}

function drawQuestion(question, choose) {
  $('question').hidden = !question;
  if (!question) return;
  $('question-text').textContent = question.text || 'Weft has a question.';
  const buttons = question.options.map((option) => {
    const button = element('button', { type: 'button', text: option });
    button.addEventListener('click', () => choose(option));
    return button;
  });
  $('options').hidden = !buttons.length;
  $('options').replaceChildren(...buttons);
  $('answer').focus();
}
