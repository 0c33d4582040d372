import { expect, it } from 'vitest';
import { argMin, barLength, ratio } from './compare';

it('compares with the reference', () => {
  expect(ratio(8, 10)).toBe(0.8);
  expect(ratio(8, 0)).toBeNaN();
});

it('draws half and double equally long', () => {
  expect(barLength(2, 4)).toBeCloseTo(0.5);
  expect(barLength(0.5, 4)).toBeCloseTo(-0.5);
  expect(barLength(100, 4)).toBe(1);
  expect(barLength(1, 4)).toBeCloseTo(0);
  expect(barLength(NaN, 4)).toBe(0);
});

it('finds the least', () => {
  expect(argMin([3, 1, 1])).toBe(1);
  expect(argMin([])).toBe(-1);
});
