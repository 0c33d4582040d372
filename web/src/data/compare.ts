// Comparisons with the reference policy.

/** 0.8 for values a fifth below those of the reference; NaN if that is 0. */
export function ratio(value: number, reference: number): number {
  return reference > 0 ? value / reference : NaN;
}

/** Index of the least value; the first of several. -1 if there are none. */
export function argMin(values: number[]): number {
  return values.reduce((best, value, i) => (best < 0 || value < values[best]! ? i : best), -1);
}

/**
 * Length of a bar for a ratio, from -1 to 1: half as long and twice as long are equally far from 0.
 * `limit` is the ratio whose bar is full.
 */
export function barLength(ratioValue: number, limit: number): number {
  if (!Number.isFinite(ratioValue) || ratioValue <= 0) return 0;
  const length = Math.log(ratioValue) / Math.log(limit);
  return Math.max(-1, Math.min(1, length));
}
