// Takes a picture of the window as 001 §5.6 has it: 1,024 pixels wide at most, JPEG of quality .7, with the boxes of what can be acted on and
// their ids; secret fields are painted over.
import { call, PageError } from './pages.js';

const WIDE = 1024, QUALITY = 0.7, MOST_CHARS = 2_000_000, HASH = 8, CONTROLS = /^(?!text$|h$|img$)/;

// What is sent of a picture that may not be taken: the hash says that it is not the one before.
const NONE = { screenshot: null, screenshotHash: '' };

// The parts of a round; null for a picture that is as before.
export async function picture(state) {
  const tab = await chrome.tabs.get(state.tab);
  if (!tab.active) return NONE;
  let taken;
  try {
    await call(state.tab, 'hidden', { away: true });
    const tree = await call(state.tab, 'tree', { next: state.next, boxes: true, aside: true });
    const boxes = [...(await secrets(state)), ...unread(tree, state)];
    taken = { url: await chrome.tabs.captureVisibleTab(tab.windowId, { format: 'jpeg', quality: 90 }), boxes, nodes: tree.nodes, width: tree.width };
  } catch (error) {
    if (error instanceof PageError) throw error;
    return NONE; // the button in the toolbar was not pressed for this site, by which a picture is allowed
  } finally {
    await call(state.tab, 'hidden', { away: false });
  }
  return drawn(state, taken);
}

// Where secret fields stand in the window, those in frames among them.
async function secrets(state) {
  const found = (await call(state.tab, 'secrets')).boxes;
  for (const { frame, x, y } of Object.values(state.frames))
    for (const [left, top, ...size] of (await call(state.tab, 'secrets', {}, frame)).boxes) found.push([x + left, y + top, ...size]);
  return found;
}

// Where frames stand that nobody looked into: what is in them may be secret.
function unread({ frames }, state) {
  const strange = frames.filter((one) => !(one.number in state.frames));
  return strange.map(({ x, y, left, top, right, bottom }) => [x + left, y + top, right - left, bottom - top]);
}

async function drawn(state, { url, boxes, nodes, width }) {
  const bytes = Uint8Array.from(atob(url.slice(url.indexOf(',') + 1)), (one) => one.charCodeAt(0));
  const image = await createImageBitmap(new Blob([bytes], { type: 'image/jpeg' }));
  const scale = Math.min(1, WIDE / image.width), canvas = new OffscreenCanvas(Math.round(image.width * scale), Math.round(image.height * scale));
  const context = canvas.getContext('2d'), pixel = canvas.width / width;
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
  context.fillStyle = '#000';
  for (const [x, y, wide, high] of boxes) context.fillRect(x * pixel - 1, y * pixel - 1, wide * pixel + 2, high * pixel + 2);
  const hash = hashOf(canvas);
  if (hash === state.picture) return { screenshot: null, screenshotHash: hash };
  for (const node of nodes) if (node.box && CONTROLS.test(node.r)) mark(context, node, pixel);
  const text = await encoded(canvas);
  state.picture = text.length <= MOST_CHARS ? hash : '';
  return state.picture ? { screenshot: text, screenshotHash: hash } : NONE;
}

function mark(context, { i, box: [x, y, wide, high] }, pixel) {
  context.strokeStyle = '#d1242f';
  context.lineWidth = 1;
  context.strokeRect(x * pixel, y * pixel, wide * pixel, high * pixel);
  context.font = '11px sans-serif';
  const across = context.measureText(i).width + 4;
  context.fillStyle = '#d1242f';
  context.fillRect(x * pixel, Math.max(0, y * pixel - 12), across, 12);
  context.fillStyle = '#fff';
  context.fillText(i, x * pixel + 2, Math.max(10, y * pixel - 2));
}

// Eight by eight greys, each lighter than the middle or not.
function hashOf(canvas) {
  const small = new OffscreenCanvas(HASH, HASH), context = small.getContext('2d');
  context.drawImage(canvas, 0, 0, HASH, HASH);
  const { data } = context.getImageData(0, 0, HASH, HASH), greys = [];
  for (let at = 0; at < data.length; at += 4) greys.push(data[at] * 0.3 + data[at + 1] * 0.59 + data[at + 2] * 0.11);
  const middle = greys.reduce((sum, one) => sum + one, 0) / greys.length;
  return greys.map((one) => (one > middle ? '1' : '0')).join('').match(/.{4}/g).map((four) => parseInt(four, 2).toString(16)).join('');
}

async function encoded(canvas) {
  const bytes = new Uint8Array(await (await canvas.convertToBlob({ type: 'image/jpeg', quality: QUALITY })).arrayBuffer());
  let text = '';
  for (let at = 0; at < bytes.length; at += 8192) text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return btoa(text);
}
