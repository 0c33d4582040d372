// Lines that share a time axis.

export interface Curves {
  /** Seconds since the first submit. */
  x: number[];
  /** One list per line, as long as x; null after the end of the line. */
  values: (number | null)[][];
}

/** Multiplies lines of one value per `stepS` seconds by `scale` and pads them to the longest. */
export function curvesOf(lines: ArrayLike<number>[], stepS: number, scale = 1): Curves {
  const length = Math.max(...lines.map((line) => line.length));
  return {
    x: Array.from({ length }, (_, i) => i * stepS),
    values: lines.map((line) =>
      Array.from({ length }, (_, i) => (i < line.length ? line[i]! * scale : null)),
    ),
  };
}
