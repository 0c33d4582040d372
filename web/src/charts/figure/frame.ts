// The parts of figures with two axes: plot area, ticks, grid, titles.
import type { Figure } from '../../data/analysis';
import { withUnit } from './numbers';
import type { Room, Shape } from './drawing';
import { fitted, type Mark, type Scale, textWidth } from './scale';

export interface DrawOptions {
  width: number;
  xLog: boolean;
  yLog: boolean;
  /** Indices of hidden series. */
  hidden: ReadonlySet<number>;
  words: BoxWords;
}

/** Texts inside figures. */
export interface BoxWords {
  median: string;
  mean: string;
  quartiles: string;
  whiskers: string;
  records: string;
}

export const HEIGHT = 320;
const TOP = 30;
const BOTTOM = 50;
const RIGHT = 22;
const TEXT = { 'font-size': 12 };

export function label(
  text: string, x: number, y: number, anchor: 'start' | 'middle' | 'end', fill: Shape['fill'] = '--muted',
): Shape {
  return { tag: 'text', fill, text, attributes: { ...TEXT, x, y, 'text-anchor': anchor } };
}

/** The plot area to the right of tick labels `texts`, above the labels of the x axis. */
export function roomFor(texts: string[], width: number, height = HEIGHT): Room {
  const left = Math.min(0.4 * width, 14 + Math.max(18, ...texts.map(textWidth)));
  return { x: left, y: TOP, width: Math.max(40, width - left - RIGHT), height: height - TOP - BOTTOM };
}

export function markRoom(mark: Mark): number {
  return textWidth(mark.text) + 12;
}

export const LINE_ROOM = 22;

/** An axis of names has no grid lines. An axis of names from top to bottom has no arrow either. */
interface AxisStyle {
  x?: 'names';
  y?: 'names' | 'names-down';
}

/** Grid lines, tick labels and titles. */
export function axes(
  room: Room, x: Scale, y: Scale, figure: Figure, flipped: boolean, style: AxisStyle = {},
): Shape[] {
  const bottom = room.y + room.height;
  const right = room.x + room.width;
  const grid = (d: string): Shape => ({ tag: 'path', fill: 'none', stroke: '--grid', attributes: { d } });
  const shapes: Shape[] = [];
  for (const mark of x.marks) {
    const at = x.at(mark.at);
    if (!style.x) shapes.push(grid(`M${at} ${room.y}V${bottom + 5}`));
    const half = textWidth(mark.text) / 2;
    const anchor = at < half ? 'start' : at + half > right + RIGHT ? 'end' : 'middle';
    shapes.push(label(mark.text, anchor === 'start' ? 1 : anchor === 'end' ? right + RIGHT - 1 : at, bottom + 19, anchor));
  }
  for (const mark of y.marks) {
    const at = y.at(mark.at);
    if (!style.y) shapes.push(grid(`M${room.x} ${at}H${right}`));
    shapes.push(label(fitted(mark.text, room.x - 10), room.x - 8, at + 4, 'end'));
  }
  shapes.push({
    tag: 'path', fill: 'none', stroke: '--border', attributes: { d: `M${room.x} ${room.y}V${bottom}H${right}` },
  });
  const [across, up] = flipped ? [figure.y, figure.x] : [figure.x, figure.y];
  const whole = right - 8;
  shapes.push(label(`${fitted(withUnit(across.label, across.unit), whole - 20)} →`, right, bottom + 41, 'end', '--text'));
  shapes.push(label(fitted(`${style.y === 'names-down' ? '' : '↑ '}${withUnit(up.label, up.unit)}`, whole), 2, 15, 'start', '--text'));
  return shapes;
}
