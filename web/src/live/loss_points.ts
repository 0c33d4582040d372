// The points of a loss curve.
import type { ProgressCurve } from './shapes';

/** Points of the curve: x is the step if every point has one, otherwise the time. */
export function lossPoints({ points }: ProgressCurve): { bySteps: boolean; x: number[]; loss: number[] } {
  const known = points.filter(({ loss }) => loss !== undefined);
  const bySteps = known.length > 0 && known.every(({ step }) => step !== undefined);
  const rows = known.map(({ at_s, step, loss }) => ({ x: bySteps ? step! : at_s, loss: loss! }))
    .sort((a, b) => a.x - b.x)
    // A restarted job repeats steps: the last report of a step counts.
    .filter((row, i, all) => all[i + 1]?.x !== row.x);
  return { bySteps, x: rows.map(({ x }) => x), loss: rows.map(({ loss }) => loss) };
}
