import { describe, expect, it } from 'vitest';
import { eventCharts, rangeOf } from './event_charts';
import type { EventCurve } from './shapes';

function curve(run: string, tag: string, step: number[], value: number[]): EventCurve {
  return { run, tag, step, value, at_s: step };
}

describe('charts of event files', () => {
  it('has one chart per tag over the steps of all runs, losses first', () => {
    const charts = eventCharts([
      curve('train', 'lr', [0, 1], [0.1, 0.01]),
      curve('train', 'val_loss', [0, 10], [3, 1]),
      curve('eval', 'val_loss', [5, 20], [4, 2]),
    ]);
    expect(charts.map(({ tag }) => tag)).toEqual(['val_loss', 'lr']);
    expect(charts[0]!.steps).toEqual([0, 5, 10, 20]);
    expect(charts[0]!.lines).toEqual([
      { run: 'train', values: [3, 3, 1, null] },
      { run: 'eval', values: [null, 4, 4, 2] },
    ]);
  });

  it('draws at most eight runs and counts the others', () => {
    const runs = Array.from({ length: 11 }, (_, i) => ({ ...curve(`run${i}`, 'loss', [0, 1], [1, i]), not_finite: 1 }));
    const [chart] = eventCharts(runs);
    expect(chart!.lines.length).toBe(8);
    expect(chart!.more).toBe(3);
    expect(chart!.notFinite).toBe(11);
  });

  it('knows what is no line', () => {
    expect(eventCharts([curve('.', 'final', [7], [0.5])])[0]!.isLine).toBe(false);
    expect(eventCharts([])).toEqual([]);
  });

  it('ranges around the values, with zero if it is near', () => {
    const range = (...values: number[]) => rangeOf(eventCharts([curve('.', 'x', values.map((_, i) => i), values)])[0]!);
    expect(range(1, 3)).toEqual([0, 3.15]);
    expect(range(-2, 2)).toEqual([-2.2, 2.2]);
    expect(range(0.9, 1)[0]).toBeCloseTo(0.895);
    expect(range(5, 5)[1]).toBeCloseTo(5.25);
    expect(range(0, 0)).toEqual([0, 1]);
  });
});
