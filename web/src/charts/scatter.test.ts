import { describe, expect, it } from 'vitest';
import { type Box, paddedRange, placeLabels, roundMarks, spotsOf } from './scatter';

describe('axes', () => {
  it('have round marks', () => {
    expect(roundMarks(16.2, 18.6, 5)).toEqual([16.5, 17, 17.5, 18, 18.5]);
    expect(roundMarks(0, 100, 4)).toEqual([0, 25, 50, 75, 100]);
    expect(roundMarks(5, 5, 4)).toEqual([5]);
  });
  it('leave room, also around one value, and are never empty', () => {
    for (const values of [[1, 2], [7], [0], [1e-6], [5, 5], []]) {
      const [low, high] = paddedRange(values);
      expect(high).toBeGreaterThan(low);
      for (const value of values) expect(value >= low && value < high, String(values)).toBe(true);
    }
    expect(paddedRange([0, 10])[0]).toBe(0);
    const [low, high] = paddedRange([100, 100.1]);
    expect(high - low).toBeGreaterThan(2);
  });
});

describe('labels', () => {
  const room: Box = { x: 0, y: 0, width: 200, height: 100 };
  const size = { width: 50, height: 16 };

  it('join points at one place', () => {
    expect(spotsOf([{ x: 1, y: 1 }, { x: 90, y: 1 }, { x: 3, y: 1 }], 6)).toEqual([
      { x: 1, y: 1, points: [0, 2] }, { x: 90, y: 1, points: [1] },
    ]);
    expect(spotsOf([], 6)).toEqual([]);
  });
  it('stand to the right, or where there is room', () => {
    const at = (x: number, y: number) => placeLabels([{ x, y, radius: 6 }], [size], room)[0]!;
    expect(at(50, 50).x).toBe(61);
    expect(at(190, 50).x).toBe(190 - 11 - 50);
    for (const [x, y] of [[3, 3], [197, 3], [3, 97], [197, 97]] as const) {
      const box = at(x, y);
      expect(box.x >= 0 && box.x + box.width <= 200 && box.y >= 0 && box.y + box.height <= 100).toBe(true);
    }
  });
  it('do not hide each other', () => {
    const spots = [{ x: 100, y: 50, radius: 6 }, { x: 120, y: 52, radius: 6 }, { x: 104, y: 60, radius: 6 }];
    const boxes = placeLabels(spots, spots.map(() => size), room);
    for (const [i, a] of boxes.entries()) {
      for (const b of boxes.slice(i + 1)) {
        const apart = a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y;
        expect(apart).toBe(true);
      }
    }
    expect(placeLabels([], [], room)).toEqual([]);
  });
});
