// Line, step and scatter plots.
import type { Figure } from '../../data/analysis';
import { lineColor, lineDash } from '../../palette';
import { type Drawing, pathOf, type Shape, type Spot } from './drawing';
import { axes, type DrawOptions, HEIGHT, LINE_ROOM, markRoom, roomFor } from './frame';
import { valueText } from './numbers';
import { linearScale, logScale, type Mark, type Scale, type Span } from './scale';

interface Point {
  x: number;
  y: number;
}

interface Curve {
  series: number;
  label: string;
  points: Point[];
}

/** The visible series as points. Without x values, x is the index of the category. */
function curvesOf(figure: Figure, hidden: ReadonlySet<number>): Curve[] {
  return figure.series
    .map((series, index) => ({
      series: index,
      label: series.label,
      points: (series.y ?? []).map((y, i) => ({
        x: series.x && series.x.length > 0 ? (series.x[i] ?? NaN) : i,
        y: y ?? NaN,
      })),
    }))
    .filter((curve) => !hidden.has(curve.series));
}

function ends(values: number[], log: boolean): [number, number] {
  let least = Infinity;
  let most = -Infinity;
  for (const value of values) {
    if (!Number.isFinite(value) || (log && value <= 0)) continue;
    least = Math.min(least, value);
    most = Math.max(most, value);
  }
  return least <= most ? [least, most] : log ? [1, 10] : [0, 1];
}

function scale(range: [number, number], log: boolean, span: Span): Scale {
  return log ? logScale(range[0], range[1], span) : linearScale(range[0], range[1], span);
}

function yRange(figure: Figure, values: number[], log: boolean): [number, number] {
  const [least, most] = ends(values, log);
  if (log) return [least, most];
  if (figure.y.unit === '%' && figure.kind !== 'scatter' && most > 50 && most <= 100.001) return [Math.min(0, least), 100];
  return [Math.min(0, least), most + 0.05 * (most - Math.min(0, least)) || 1];
}

/** The y of a curve at x: the last point at or before x for steps, the nearest point for lines. */
function valueAt(points: Point[], x: number, stepped: boolean): number | null {
  let low = 0;
  let high = points.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (points[middle]!.x <= x) low = middle + 1;
    else high = middle;
  }
  const before = points[low - 1];
  const after = points[low];
  if (stepped || !after) return before?.y ?? null;
  if (!before) return after.y;
  return x - before.x <= after.x - x ? before.y : after.y;
}

/** The spots of curves: x values at least 1.5 pixels apart. */
function readings(figure: Figure, curves: Curve[], x: Scale, middle: number): Spot[] {
  const values = [...new Set(curves.flatMap((curve) => curve.points.map((point) => point.x)))]
    .filter(x.has).sort((a, b) => a - b);
  const spots: Spot[] = [];
  let last = -Infinity;
  for (const value of values) {
    const at = x.at(value);
    if (at - last < 1.5) continue;
    last = at;
    spots.push({
      x: at,
      y: middle,
      title: figure.categories[value] ?? `${figure.x.label} ${valueText(value, figure.x.unit)}`,
      items: curves.map(({ series, label, points }) => ({
        series, label, value: valueText(valueAt(points, value, figure.kind === 'step'), figure.y.unit),
      })),
    });
  }
  return spots;
}

/** A marker per series, so that series can be distinguished without colour. */
function dot(series: number, x: number, y: number): string {
  const r = 3.4;
  const marks = [
    `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0Z`,
    `M${x - r} ${y - r}h${2 * r}v${2 * r}h${-2 * r}Z`,
    `M${x} ${y - 1.3 * r}L${x + 1.2 * r} ${y + r}H${x - 1.2 * r}Z`,
    `M${x} ${y - 1.4 * r}L${x + 1.2 * r} ${y}L${x} ${y + 1.4 * r}L${x - 1.2 * r} ${y}Z`,
  ];
  return marks[series % marks.length]!;
}

function curveShape(figure: Figure, curve: Curve, x: Scale, y: Scale): Shape {
  const place = (point: Point) =>
    x.has(point.x) && y.has(point.y) ? { x: x.at(point.x), y: y.at(point.y) } : null;
  return {
    tag: 'path', fill: 'none', stroke: lineColor(curve.series),
    attributes: {
      d: pathOf(curve.points.map(place), figure.kind === 'step'),
      'stroke-width': 2, 'stroke-linejoin': 'round', 'stroke-dasharray': lineDash(curve.series).join(' '),
      'data-series': curve.series,
    },
  };
}

function scattered(figure: Figure, curves: Curve[], x: Scale, y: Scale): { shapes: Shape[]; spots: Spot[] } {
  const shapes: Shape[] = [];
  const spots: Spot[] = [];
  for (const { series, label, points } of curves) {
    const there = points.filter((point) => x.has(point.x) && y.has(point.y));
    const path = there.map((point) => dot(series, Number(x.at(point.x).toFixed(1)), Number(y.at(point.y).toFixed(1))));
    shapes.push({
      tag: 'path', fill: lineColor(series),
      attributes: { d: path.join(''), 'fill-opacity': 0.45, 'data-series': series },
    });
    for (const point of there) {
      spots.push({
        x: x.at(point.x), y: y.at(point.y),
        title: `${figure.x.label} ${valueText(point.x, figure.x.unit)}`,
        items: [{ series, label: curves.length > 1 ? label : figure.y.label, value: valueText(point.y, figure.y.unit) }],
      });
    }
  }
  return { shapes, spots: spots.sort((a, b) => a.x - b.x || b.y - a.y) };
}

export function drawPoints(figure: Figure, options: DrawOptions): Drawing {
  const curves = curvesOf(figure, options.hidden);
  const points = curves.flatMap((curve) => curve.points);
  const named = figure.categories.length > 0;
  const yValues = yRange(figure, points.map((point) => point.y), options.yLog);
  const probe = scale(yValues, options.yLog, { from: 240, to: 0, room: () => LINE_ROOM });
  const room = roomFor(probe.marks.map((mark) => mark.text), options.width);
  const y = scale(yValues, options.yLog,
    { from: room.y + room.height, to: room.y, room: () => LINE_ROOM });
  let xRange = ends(points.map((point) => point.x), options.xLog && !named);
  if (figure.kind === 'scatter' && options.xLog) xRange = [xRange[0] / 1.15, xRange[1] * 1.15];
  const x = scale(xRange, options.xLog && !named,
    { from: room.x, to: room.x + room.width, room: markRoom });
  if (named) x.marks = namedMarks(figure.categories, x);
  const shapes = axes(room, x, y, figure, false);
  if (figure.kind === 'scatter') {
    const drawn = scattered(figure, curves, x, y);
    return { width: options.width, height: HEIGHT, plot: room, shapes: [...shapes, ...drawn.shapes],
      spots: drawn.spots, near: 'both', columns: 1 };
  }
  shapes.push(...curves.map((curve) => curveShape(figure, curve, x, y)));
  return { width: options.width, height: HEIGHT, plot: room, shapes,
    spots: readings(figure, curves, x, room.y + room.height / 2), near: 'x', columns: 1 };
}

/** Every n-th name, so that labels do not overlap. */
function namedMarks(names: string[], x: Scale): Mark[] {
  const widest = Math.max(1, ...names.map((text) => markRoom({ at: 0, text })));
  const gap = Math.abs(x.at(1) - x.at(0)) || widest;
  const every = Math.max(1, Math.ceil(widest / gap));
  return names.map((text, at) => ({ at, text })).filter((mark) => mark.at % every === 0);
}
