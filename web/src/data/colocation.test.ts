import { describe, expect, it } from 'vitest';
import {
  cellOf, countPairs, hasColocation, markRadius, mostShared, shortName, tone,
} from './colocation';
import type { ReportDocument } from './document';

// a with b: slowdowns 1.25 and 2; a with itself: excluded; b with itself: not measured.
const SLOWDOWNS = [-1, 1.25, 2, 0];

describe('a cell', () => {
  it('is measured, never or unknown', () => {
    const cell = cellOf(SLOWDOWNS, 2, 0, 1);
    expect(cell).toEqual({ kind: 'measured', rowSlowdown: 1.25, columnSlowdown: 2, rates: 1.3 });
    expect(cellOf(SLOWDOWNS, 2, 1, 0)).toMatchObject({ rowSlowdown: 2, columnSlowdown: 1.25, rates: 1.3 });
    expect(cellOf(SLOWDOWNS, 2, 0, 0).kind).toBe('never');
    expect(cellOf(SLOWDOWNS, 2, 1, 1).kind).toBe('unknown');
    expect(cellOf([], 0, 0, 0).kind).toBe('unknown');
  });
  it('is even where taking turns does as much, by both measures', () => {
    const turns = cellOf([0, 2, 2, 0], 2, 0, 1);
    expect(tone(turns, 'rates')).toBe(0);
    expect(tone(turns, 'slowdown')).toBe(0);
    const free = cellOf([1], 1, 0, 0);
    expect([tone(free, 'rates'), tone(free, 'slowdown')]).toEqual([1, 1]);
    const costly = cellOf([20], 1, 0, 0);
    expect([tone(costly, 'rates'), tone(costly, 'slowdown')]).toEqual([-1, -1]);
    expect(tone(cellOf(SLOWDOWNS, 2, 0, 1), 'slowdown')).toBeCloseTo(0.6);
  });
});

describe('the matrix', () => {
  it('counts pairs once', () => {
    expect(countPairs(SLOWDOWNS, [0, 3, 3, 0], 2)).toEqual({ measured: 1, never: 1, unknown: 1, met: 1 });
    expect(countPairs([], [], 0)).toEqual({ measured: 0, never: 0, unknown: 0, met: 0 });
  });
  it('marks what met by its share, and nothing where nobody met', () => {
    expect(markRadius(0, 0)).toBe(0);
    expect(markRadius(0, 8)).toBe(0);
    expect(markRadius(8, 8)).toBeCloseTo(0.38);
    expect(markRadius(2, 8)).toBeCloseTo(0.245);
  });
  it('is not there without applications or types', () => {
    const of = (colocation?: object) => hasColocation({ colocation } as ReportDocument);
    expect(of()).toBe(false);
    expect(of({ apps: [], gpu_types: [{}] })).toBe(false);
    expect(of({ apps: ['a'], gpu_types: [] })).toBe(false);
    expect(of({ apps: ['a'], gpu_types: [{}] })).toBe(true);
  });
  it('shows the run that shared most', () => {
    const runs = (...levels: object[]) =>
      ({ runs: levels.map((prediction_levels) => ({ figures: { prediction_levels } })) }) as unknown as
        ReportDocument;
    expect(mostShared(runs({ measured: 1 }, { measured: 2, pairs: 3 }, {}))).toBe(1);
    expect(mostShared(runs({}, {}))).toBe(0);
    expect(mostShared(runs())).toBe(0);
  });
  it('shortens names', () => {
    expect(shortName('ResNet-18@batch 16')).toBe('ResNet-18 · 16');
    expect(shortName('A3C')).toBe('A3C');
    expect(shortName('GPT@seq 1024')).toBe('GPT · seq 1024');
  });
});
