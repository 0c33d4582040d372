// Lines over one time axis.

export interface Curves {
  /** Seconds since the first submit. */
  x: number[];
  /** One list for each line, as long as x; null where the line has ended. */
  values: (number | null)[][];
}

/** Lines of values, one each `stepS` seconds, multiplied by `scale`, all as long as the longest. */
export function curvesOf(lines: ArrayLike<number>[], stepS: number, scale = 1): Curves {
  const length = Math.max(...lines.map((line) => line.length));
  return {
    x: Array.from({ length }, (_, i) => i * stepS),
    values: lines.map((line) =>
      Array.from({ length }, (_, i) => (i < line.length ? line[i]! * scale : null)),
    ),
  };
}
