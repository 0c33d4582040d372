// Comparisons with the reference policy.

/** value / reference; NaN if the reference is 0. */
export function ratio(value: number, reference: number): number {
  return reference > 0 ? value / reference : NaN;
}

/** Index of the first minimum; -1 if `values` is empty. */
export function argMin(values: number[]): number {
  return values.reduce((best, value, i) => (best < 0 || value < values[best]! ? i : best), -1);
}

/**
 * Length of the bar of a ratio, from -1 to 1, on a logarithmic scale: half and double have equal
 * bars. `limit` is the ratio of a full bar.
 */
export function barLength(ratioValue: number, limit: number): number {
  if (!Number.isFinite(ratioValue) || ratioValue <= 0) return 0;
  const length = Math.log(ratioValue) / Math.log(limit);
  return Math.max(-1, Math.min(1, length));
}
