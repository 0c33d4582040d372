// Draws figures of any kind, and decides which axes can switch between linear and logarithmic.
import type { Figure } from '../../data/analysis';
import { drawBars, drawBoxes } from './bars';
import type { Drawing } from './drawing';
import type { DrawOptions } from './frame';
import { drawHeat } from './heat';
import { drawPoints } from './points';

export function draw(figure: Figure, options: DrawOptions): Drawing {
  switch (figure.kind) {
    case 'bar':
    case 'stacked-bar':
      return drawBars(figure, options);
    case 'box':
      return drawBoxes(figure, options);
    case 'heatmap':
      return drawHeat(figure, options);
    default:
      return drawPoints(figure, options);
  }
}

const WIDE = 8;

/** Whether a logarithmic axis is useful: the positive values differ by a large factor. */
function spread(values: (number | null)[]): boolean {
  const known = values.filter((value): value is number => value !== null && value > 0);
  if (known.length < 2) return false;
  return Math.max(...known) / Math.min(...known) >= WIDE;
}

export function switchesOf(figure: Figure): { x: boolean; y: boolean } {
  const ys = figure.series.flatMap((series) => series.y ?? []);
  if (figure.kind === 'heatmap') return { x: false, y: spread(ys) };
  if (figure.kind === 'stacked-bar') return { x: false, y: false };
  if (figure.kind === 'box') {
    const ends = figure.series.flatMap((series) => series.boxes ?? [])
      .flatMap((box) => [box.low, box.q1, box.high]);
    return { x: false, y: figure.y.scale === 'log' || (ends.every((end) => end > 0) && spread(ends)) };
  }
  const xs = figure.series.flatMap((series) => series.x ?? []);
  const named = figure.categories.length > 0 || figure.kind === 'bar';
  return {
    x: !named && (figure.x.scale === 'log' || spread(xs)),
    // A distribution in percent needs no logarithmic axis.
    y: figure.y.scale === 'log' || (!(figure.kind === 'step' && figure.y.unit === '%') && spread(ys)),
  };
}
