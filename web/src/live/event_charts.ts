// Charts of event files: one per tag, with a line per run over the steps of all of them.
import type { EventCurve } from './shapes';

export interface EventChart {
  tag: string;
  steps: number[];
  /** Null where a run has no value. */
  lines: { run: string; values: (number | null)[] }[];
  /** Runs that are not drawn. */
  more: number;
  /** Values that are infinite or not a number. */
  notFinite: number;
  /** A curve has two points. */
  isLine: boolean;
}

/** More lines cannot be distinguished. */
const LINES_MAX = 8;

/** Losses first, otherwise in the order of the files. */
export function eventCharts(curves: readonly EventCurve[]): EventChart[] {
  const byTag = new Map<string, EventCurve[]>();
  for (const curve of curves) {
    const known = byTag.get(curve.tag);
    if (known) known.push(curve);
    else byTag.set(curve.tag, [curve]);
  }
  const charts = [...byTag].map(([tag, all]): EventChart => {
    const drawn = all.slice(0, LINES_MAX);
    const steps = [...new Set(drawn.flatMap(({ step }) => step))].sort((a, b) => a - b);
    const lines = drawn.map(({ run, step, value }) => {
      // Between the steps of its own a run keeps its value, since runs are seldom written at the same steps.
      const values: (number | null)[] = [];
      for (let i = 0, at = -1; i < steps.length; i++) {
        while (at + 1 < step.length && step[at + 1]! <= steps[i]!) at++;
        const ended = at === step.length - 1 && steps[i]! > step[at]!;
        values.push(at < 0 || ended ? null : value[at]!);
      }
      return { run, values };
    });
    return {
      tag, steps, lines, more: all.length - drawn.length,
      notFinite: all.reduce((sum, { not_finite }) => sum + (not_finite ?? 0), 0),
      isLine: drawn.some(({ step }) => step.length > 1),
    };
  });
  const rank = ({ tag }: EventChart) => (/loss/i.test(tag) ? 0 : 1);
  return charts.sort((a, b) => rank(a) - rank(b));
}

/** Ends of the y axis: around the values, with 0 if it is near. */
export function rangeOf({ lines }: EventChart): [number, number] {
  let low = Infinity;
  let high = -Infinity;
  for (const { values } of lines) {
    for (const value of values) {
      if (value === null) continue;
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
  }
  if (low > high) return [0, 1];
  if (low >= 0 && low < 0.5 * high) low = 0;
  const room = 0.05 * (high - low) || 0.05 * Math.abs(high) || 1;
  return [low === 0 ? 0 : low - room, high + room];
}
