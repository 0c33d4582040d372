// Grouped bars, stacked bars and box plots: values by category.
import type { Box, Figure } from '../../data/analysis';
import { lineColor } from '../../palette';
import type { Drawing, Room, Shape, Spot } from './drawing';
import { axes, type BoxWords, type DrawOptions, HEIGHT, label, LINE_ROOM, markRoom, roomFor } from './frame';
import { numberText, valueText } from './numbers';
import { bandScale, linearScale, logScale, markText, type Scale, textWidth } from './scale';

const THICKEST = 44;
const LYING_MOST = 40;

/** Whether bars are horizontal: category names need space, numeric categories do not. */
export function liesDown(figure: Figure): boolean {
  const number = /^[<>=≤≥]?\s*[\d.,]+\s*%?(\s*[-–]\s*[\d.,]*\s*%?)?$/;
  return figure.categories.length <= LYING_MOST && figure.categories.some((name) => !number.test(name));
}

interface Frame {
  lying: boolean;
  room: Room;
  height: number;
  along: Scale & { band: number };
  value: Scale;
  base: number;
  shapes: Shape[];
}

function valueScale(values: number[], log: boolean, span: Parameters<typeof linearScale>[2]): Scale {
  const known = values.filter((value) => Number.isFinite(value) && (!log || value > 0));
  const most = known.length > 0 ? Math.max(...known) : 1;
  if (!log) {
    const least = Math.min(0, ...known);
    return linearScale(least, most > least ? most + 0.04 * (most - least) : least + 1, span);
  }
  const least = known.length > 0 ? Math.min(...known) : most;
  return logScale(10 ** Math.floor(Math.log10(least) - 1e-9), most * 1.2, span);
}

function frame(figure: Figure, options: DrawOptions, values: number[], perBand: number): Frame {
  const lying = liesDown(figure);
  const count = figure.categories.length;
  const height = lying ? 92 + count * Math.max(26, Math.min(60, 16 * perBand)) : HEIGHT;
  const log = options.yLog;
  const probe = valueScale(values, log, { from: 240, to: 0, room: () => LINE_ROOM });
  const texts = lying ? figure.categories : probe.marks.map((mark) => mark.text);
  const room = roomFor(texts, options.width, height);
  const across = { from: room.x, to: room.x + room.width, room: markRoom };
  const down = { from: room.y, to: room.y + room.height, room: () => LINE_ROOM };
  const up = { from: down.to, to: down.from, room: () => LINE_ROOM };
  const along = bandScale(figure.categories, lying ? { ...down, room: () => 14 } : across);
  const value = valueScale(values, log, lying ? across : up);
  const [x, y] = lying ? [value, along] : [along, value];
  const shapes = axes(room, x, y, figure, lying, lying ? { y: 'names-down' } : { x: 'names' });
  const base = log ? (lying ? across.from : up.from) : value.at(0);
  return { lying, room, height, along, value, base, shapes };
}

/** A bar from `start` of `thickness` along the category axis, and from `a` to `b` along the value axis. */
function block(frame: Frame, start: number, thickness: number, a: number, b: number) {
  const low = Math.min(a, b);
  const size = Math.abs(b - a);
  return frame.lying
    ? { x: low, y: start, width: size, height: thickness }
    : { x: start, y: low, width: thickness, height: size };
}

/** Start and thickness of the bars of a category. */
function slots(frame: Frame, category: number, bars: number): { start: number; size: number } {
  const size = Math.min(THICKEST, (0.8 * frame.along.band) / Math.max(1, bars));
  return { start: frame.along.at(category) - (size * bars) / 2, size };
}

function spotsOf(figure: Figure, frame: Frame, items: (category: number) => Spot['items']): Spot[] {
  const { room, along, lying } = frame;
  return figure.categories.map((title, i) => ({
    x: lying ? room.x + room.width / 2 : along.at(i),
    y: lying ? along.at(i) : room.y + room.height / 2,
    title,
    items: items(i),
    box: lying
      ? { x: room.x, y: along.at(i) - along.band / 2, width: room.width, height: along.band }
      : { x: along.at(i) - along.band / 2, y: room.y, width: along.band, height: room.height },
  }));
}

function drawing(frame: Frame, options: DrawOptions, spots: Spot[]): Drawing {
  return { width: options.width, height: frame.height, plot: frame.room, shapes: frame.shapes, spots,
    near: frame.lying ? 'y' : 'x', columns: 1 };
}

/** The label with the value at the end of a bar, if it fits. */
function endLabel(frame: Frame, value: number, place: number, along: number): Shape | null {
  const text = markText(value);
  const { room } = frame;
  if (frame.lying) {
    const inside = place + 8 + textWidth(text) > room.x + room.width + 18;
    return inside
      ? label(text, place - 6, along + 4, 'end', '--surface')
      : label(text, place + 5, along + 4, 'start', '--text');
  }
  if (textWidth(text) + 2 > frame.along.band) return null;
  return label(text, along, Math.max(room.y - 2, place - 5), 'middle', '--text');
}

export function drawBars(figure: Figure, options: DrawOptions): Drawing {
  const shown = figure.series.map((series, index) => ({ series, index }))
    .filter(({ index }) => !options.hidden.has(index));
  const stacked = figure.kind === 'stacked-bar';
  const at = (index: number, i: number) => figure.series[index]?.y?.[i] ?? NaN;
  const values = stacked
    ? figure.categories.map((_, i) => shown.reduce((sum, { index }) => sum + (at(index, i) || 0), 0))
    : shown.flatMap(({ series }) => (series.y ?? []).map((value) => value ?? NaN));
  const bars = stacked ? 1 : shown.length;
  const made = frame(figure, { ...options, yLog: options.yLog && !stacked }, values, stacked ? 2 : bars);
  figure.categories.forEach((_, i) => {
    const { start, size } = slots(made, i, bars);
    let below = 0;
    shown.forEach(({ index }, place) => {
      const value = at(index, i);
      if (!Number.isFinite(value) || !made.value.has(value) || value === 0) return;
      const from = stacked ? made.value.at(below) : made.base;
      const to = made.value.at(stacked ? below + value : value);
      below += stacked ? value : 0;
      made.shapes.push({
        tag: 'rect', fill: lineColor(index), stroke: '--surface',
        attributes: { ...block(made, start + (stacked ? 0 : place * size), size, from, to),
          'stroke-width': size > 4 ? 1 : 0, 'data-series': index },
      });
      const end = bars === 1 && (!stacked || shown.length === 1) ? endLabel(made, value, to, made.along.at(i)) : null;
      if (end) made.shapes.push(end);
    });
  });
  return drawing(made, options, spotsOf(figure, made, (i) =>
    shown.map(({ series, index }) => ({
      series: index, label: series.label, value: valueText(at(index, i), figure.y.unit),
    }))));
}

function boxText(box: Box, unit: string, words: BoxWords): string {
  const n = numberText;
  return `${words.median} ${valueText(box.median, unit)}, ${words.quartiles} ${n(box.q1)} – ${n(box.q3)}, ` +
    `${words.whiskers} ${n(box.low)} – ${n(box.high)}, ${words.mean} ${n(box.mean)}, ` +
    `${words.records} ${n(box.count)}`;
}

function boxShapes(made: Frame, box: Box, series: number, start: number, size: number): Shape[] {
  const color = lineColor(series);
  const { value, lying } = made;
  const place = (v: number) => (value.has(v) ? value.at(v) : made.base);
  const middle = start + size / 2;
  const [low, q1, median, q3, high, mean] =
    [box.low, box.q1, box.median, box.q3, box.high, box.mean].map(place) as
      [number, number, number, number, number, number];
  const along = (a: number, from: number, to: number) =>
    lying ? `M${a} ${from}V${to}` : `M${from} ${a}H${to}`;
  const stem = (from: number, to: number) =>
    lying ? `M${from} ${middle}H${to}` : `M${middle} ${from}V${to}`;
  const [start4, end4] = [start + size / 4, start + (3 * size) / 4];
  const [mx, my] = lying ? [mean, middle] : [middle, mean];
  const r = Math.min(4.5, size / 4);
  const dots = box.outliers.filter((v) => value.has(v)).map((v) => {
    const [x, y] = lying ? [place(v), middle] : [middle, place(v)];
    return `M${(x - 2).toFixed(1)} ${y.toFixed(1)}a2 2 0 1 0 4 0a2 2 0 1 0 -4 0Z`;
  });
  return [
    { tag: 'path', fill: 'none', stroke: color, attributes: { d: dots.join(''), 'stroke-opacity': 0.5 } },
    { tag: 'path', fill: 'none', stroke: color, attributes: {
      d: stem(low, q1) + stem(q3, high) + along(low, start4, end4) + along(high, start4, end4), 'stroke-width': 1.5 } },
    { tag: 'rect', fill: color, stroke: color, attributes: {
      ...block(made, start, size, q1, q3), 'fill-opacity': 0.22, 'stroke-width': 1.5, 'data-series': series } },
    { tag: 'path', fill: 'none', stroke: color, attributes: { d: along(median, start, start + size), 'stroke-width': 3.5 } },
    { tag: 'path', fill: '--surface', stroke: color, attributes: {
      d: `M${mx - r} ${my}L${mx} ${my - r}L${mx + r} ${my}L${mx} ${my + r}Z`, 'stroke-width': 1.5 } },
  ];
}

export function drawBoxes(figure: Figure, options: DrawOptions): Drawing {
  const shown = figure.series.map((series, index) => ({ boxes: series.boxes ?? [], label: series.label, index }))
    .filter(({ index }) => !options.hidden.has(index));
  const values = shown.flatMap(({ boxes }) =>
    boxes.flatMap((box) => [box.low, box.high, box.mean, ...box.outliers]));
  const made = frame(figure, options, values, 2 * shown.length);
  figure.categories.forEach((_, i) => {
    const { start, size } = slots(made, i, shown.length);
    shown.forEach(({ boxes, index }, place) => {
      const box = boxes[i];
      if (!box || box.count === 0) return;
      const gap = 0.1 * size;
      made.shapes.push(...boxShapes(made, box, index, start + place * size + gap, size - 2 * gap));
    });
  });
  return drawing(made, options, spotsOf(figure, made, (i) =>
    shown.map(({ boxes, label: name, index }) => ({
      series: index, label: name, value: boxes[i] ? boxText(boxes[i], figure.y.unit, options.words) : '–',
    }))));
}
