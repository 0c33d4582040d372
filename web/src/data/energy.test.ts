import { describe, expect, it } from 'vitest';
import type { ReportDocument, Run } from './document';
import { ACCOUNTINGS, energySoFar, HEADLINE, hasEnergy, kwhMax, kwhOf, tradePoints } from './energy';

const run = (policy: string, avg_jct_s: number | null, d?: number): Run => ({
  policy, settings: [],
  figures: {
    avg_jct_s, ...(d === undefined ? {} : { energy_kwh: { A: d - 1, B: 2 * d, C: d, D: d } }),
  },
});
const documentOf = (runs: Run[]) => ({ runs }) as ReportDocument;

describe('energy by accounting', () => {
  it('begins with the headline and holds each accounting once', () => {
    expect(ACCOUNTINGS[0]?.letter).toBe(HEADLINE);
    expect(ACCOUNTINGS.map(({ letter }) => letter).sort()).toEqual(['A', 'B', 'C', 'D']);
  });
  it('is not there without power models', () => {
    expect(kwhOf(run('a', 1), 'D')).toBeNaN();
    expect(hasEnergy(documentOf([run('a', 1)]))).toBe(false);
    expect(hasEnergy(documentOf([]))).toBe(false);
    expect(kwhMax([run('a', 1)])).toBe(0);
  });
  it('has one scale for all policies and accountings', () => {
    const runs = [run('a', 1, 10), run('b', 2, 30)];
    expect(hasEnergy(documentOf(runs))).toBe(true);
    expect(kwhOf(runs[1]!, 'A')).toBe(29);
    expect(kwhMax(runs)).toBe(60);
  });
});

describe('energy over time', () => {
  it('grows by power x time, of the last step only what the run lasted', () => {
    expect(energySoFar([3600, 0, 7200], 10, 25)).toEqual([0, 10, 10, 20]);
    expect(energySoFar([3600], 10, 0)).toEqual([0, 0]);
    expect(energySoFar([], 10, 0)).toEqual([0]);
  });
});

describe('the trade-off', () => {
  const front = (runs: Run[]) => tradePoints(runs).filter((point) => point.front).map(({ policy }) => policy);
  it('marks what nobody beats in both', () => {
    const runs = [run('quick', 10, 50), run('thrifty', 20, 30), run('neither', 20, 50), run('same', 10, 50)];
    expect(front(runs)).toEqual(['quick', 'thrifty', 'same']);
  });
  it('shows one run, and leaves out those without figures', () => {
    expect(tradePoints([run('only', 10, 5)])).toEqual([
      { run: 0, policy: 'only', jctS: 10, kwh: 5, front: true },
    ]);
    expect(tradePoints([run('a', null, 5), run('b', 7)])).toEqual([]);
    expect(tradePoints([])).toEqual([]);
  });
});
