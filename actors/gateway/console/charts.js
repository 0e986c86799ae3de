// Draws figures over time by uPlot, in the colours of the stylesheet; beside each line its last value stands as text.
import { html, useEffect, useRef, useState } from './htm.js';

const HEIGHT = 170;
const SPAN_S = 60;
const dark = matchMedia('(prefers-color-scheme: dark)');

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

const clock = (_plot, splits) => splits.map((at) => new Date(at * 1_000).toLocaleTimeString('en-GB'));

const date = (_plot, splits) => splits.map((at) => new Date(at * 1_000).toLocaleDateString('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' }));

function options(width, lines, days) {
  const axis = { stroke: colour('soft'), grid: { stroke: colour('line'), width: 1 }, ticks: { show: false }, font: '11px system-ui' };
  const values = (_plot, splits) => splits.map((value) => (value >= 1_000 ? `${value / 1_000}k` : String(value)));
  return {
    width,
    height: HEIGHT,
    legend: { show: false },
    cursor: { show: false },
    padding: [10, 6, 0, 0],
    scales: { y: { range: (_plot, _low, high) => [0, high > 0 ? high * 1.15 : 1] } },
    axes: [{ ...axis, values: days ? date : clock, space: 80, size: 30 }, { ...axis, values, size: 44, space: 34 }],
    series: [{}, ...lines.map((line) => ({
      label: line.name, stroke: colour(line.colour), width: 2, dash: line.dashed ? [5, 4] : undefined, points: { show: days }, spanGaps: true,
    }))],
  };
}

// The figures from a minute ago on at least: a single moment has no width.
function padded(times, lines) {
  const start = times.length ? times.at(-1) - SPAN_S : 0, pads = times.length > 0 && times[0] > start;
  return [pads ? [start, ...times] : times, ...lines.map((line) => (pads ? [null, ...line.values] : line.values))];
}

// `lines` are {name, colour, dashed, values}, parallel to `times` (seconds since the epoch), of which `days` are each the start of one.
export function Chart({ title, unit, times, lines, days = false }) {
  const place = useRef(null), plot = useRef(null), [turn, setTurn] = useState(0);
  const data = days ? [times, ...lines.map((line) => line.values)] : padded(times, lines);
  const names = lines.map((line) => line.name).join();
  useEffect(() => {
    const made = new uPlot(options(place.current.clientWidth, lines, days), data, place.current);
    plot.current = made;
    const sized = new ResizeObserver(() => made.setSize({ width: place.current.clientWidth, height: HEIGHT }));
    sized.observe(place.current);
    const repaint = () => setTurn((count) => count + 1);
    dark.addEventListener('change', repaint);
    return () => {
      dark.removeEventListener('change', repaint);
      sized.disconnect();
      made.destroy();
    };
  }, [names, turn]);
  useEffect(() => plot.current?.setData(data), [times]);
  const latest = (values) => values.findLast((value) => value !== null && value !== undefined);
  return html`<figure class="chart" aria-label=${title}>
    <figcaption>${title} <span class="soft">${unit}</span></figcaption>
    <div ref=${place} class="plot" aria-hidden="true"></div>
    <ul class="legend">${lines.map((line) => html`<li>
      <svg class="swatch" viewBox="0 0 18 4" aria-hidden="true"><line class=${`stroke-${line.colour}`} x1="0" y1="2" x2="18" y2="2" stroke-dasharray=${line.dashed ? '5 3' : 'none'} /></svg>
      ${line.name} <b>${latest(line.values) === undefined ? '–' : Number(latest(line.values).toPrecision(3)).toLocaleString('en')}</b></li>`)}
      ${lines.length === 0 && html`<li>Nothing yet.</li>`}</ul>
  </figure>`;
}
