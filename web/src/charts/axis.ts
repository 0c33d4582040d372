// Ticks of time axes at round times.

const STEPS = [
  1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 2 * 3600, 3 * 3600, 6 * 3600, 12 * 3600,
  86400, 2 * 86400, 5 * 86400, 10 * 86400, 30 * 86400, 60 * 86400, 180 * 86400, 360 * 86400,
  1800 * 86400, 3600 * 86400,
];

/** Tick distance such that at most `marks` ticks fit into `span`. */
function timeStep(span: number, marks: number): number {
  return STEPS.find((step) => span / step <= marks) ?? STEPS[STEPS.length - 1]!;
}

export function timeMarks(min: number, max: number, marks: number): { step: number; at: number[] } {
  const step = timeStep(max - min, marks);
  const at: number[] = [];
  for (let mark = Math.ceil(min / step) * step; mark <= max; mark += step) at.push(mark);
  return { step, at };
}

const LOG_MARKS = [
  1, 10, 60, 600, 3600, 6 * 3600, 86400, 5 * 86400, 30 * 86400, 365 * 86400, 3650 * 86400,
];

/** Ticks on a logarithmic scale of seconds, at least the ratio `gap` apart. */
export function logTimeMarks(min: number, max: number, gap: number): number[] {
  const marks: number[] = [];
  for (const mark of LOG_MARKS) {
    if (mark < min || mark > max) continue;
    const last = marks[marks.length - 1];
    if (last === undefined || mark / last >= gap) marks.push(mark);
  }
  return marks.length > 0 ? marks : [min, max];
}
