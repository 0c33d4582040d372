// Heat maps: one row per series, one column per category, and the colour scale.
import type { Figure } from '../../data/analysis';
import { liesDown } from './bars';
import type { Drawing, Shape, Spot } from './drawing';
import { axes, type DrawOptions, label, markRoom, roomFor } from './frame';
import { valueText } from './numbers';
import { bandScale, markText } from './scale';

const ROW = 26;
const RAMP = 120;

const LOG_FIRST = 0.12;

/** Position on the heat scale: 0 for value 0, 1 for `most`. `least` is the smallest positive value. */
function heatShare(value: number, least: number, most: number, log: boolean): number {
  if (!(value > 0) || !(most > 0)) return 0;
  if (!log) return value / most;
  if (!(most > least)) return 1;
  return LOG_FIRST + ((1 - LOG_FIRST) * Math.max(0, Math.log(value / least))) / Math.log(most / least);
}

function ramp(width: number, least: number, most: number, log: boolean): Shape[] {
  const steps = 24;
  const left = width - RAMP - 50;
  const shapes: Shape[] = [label(log ? markText(least) : '0', left - 6, 15, 'end'), label(markText(most), left + RAMP + 6, 15, 'start')];
  for (let i = 0; i < steps; i++) {
    const place = (i + 0.5) / steps;
    const value = log && most > least ? least * (most / least) ** place : most * place;
    shapes.push({ tag: 'rect', fill: 'none', heat: heatShare(value, least, most, log),
      attributes: { x: left + (RAMP * i) / steps, y: 5, width: RAMP / steps + 0.5, height: 11 } });
  }
  return shapes;
}

export function drawHeat(figure: Figure, options: DrawOptions): Drawing {
  const labels = figure.series.map((series) => series.label);
  // Numbers ascend from bottom to top, names run from top to bottom.
  const upwards = !liesDown({ ...figure, categories: labels });
  const height = 96 + ROW * labels.length;
  const room = roomFor(labels, options.width, height);
  room.y += 8;
  room.height -= 8;
  const x = bandScale(figure.categories, { from: room.x, to: room.x + room.width, room: markRoom });
  const [top, bottom] = [room.y, room.y + room.height];
  const y = bandScale(labels, {
    from: upwards ? bottom : top, to: upwards ? top : bottom, room: () => 14,
  });
  const values = figure.series.flatMap((series) => (series.y ?? []).map((value) => value ?? 0));
  const most = Math.max(0, ...values);
  const least = Math.min(most, ...values.filter((value) => value > 0));
  const shapes = axes(room, x, y, figure, false, { x: 'names', y: upwards ? 'names' : 'names-down' });
  const spots: Spot[] = [];
  const order = figure.series.map((_, i) => (upwards ? figure.series.length - 1 - i : i));
  for (const row of order) {
    figure.categories.forEach((category, column) => {
      const value = figure.series[row]?.y?.[column] ?? null;
      const box = { x: x.at(column) - x.band / 2, y: y.at(row) - y.band / 2, width: x.band, height: y.band };
      shapes.push({ tag: 'rect', fill: '--surface', ...(value === null ? {} : { heat: heatShare(value, least, most, options.yLog) }),
        attributes: { ...box, 'data-row': row } });
      spots.push({ x: x.at(column), y: y.at(row), box,
        title: `${figure.y.label} ${labels[row] ?? ''}, ${figure.x.label} ${category}`,
        items: [{ series: -1, label: '', value: valueText(value, '') }] });
    });
  }
  shapes.push(...ramp(options.width, least, most, options.yLog));
  return { width: options.width, height, plot: room, shapes, spots, near: 'both',
    columns: Math.max(1, figure.categories.length) };
}
