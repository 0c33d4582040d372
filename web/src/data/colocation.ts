// Cells of the co-location matrix: how much two applications on one GPU slow each other down.

import { numbersOf, type ReportDocument } from './document';

export function hasColocation({ colocation }: ReportDocument): boolean {
  return colocation !== undefined && colocation.apps.length > 0 && colocation.gpu_types.length > 0;
}

export type CellKind = 'measured' | 'never' | 'unknown';
export type Measure = 'rates' | 'slowdown';

export interface Cell {
  kind: CellKind;
  /** Time of the row application next to the column application / alone. */
  rowSlowdown: number;
  /** The same for the column application. */
  columnSlowdown: number;
  /** Combined throughput in units of one application alone. Time slicing gives 1. */
  rates: number;
}

/** `slowdowns` is in row-major order; 0: not measured, negative: excluded. */
export function cellOf(slowdowns: ArrayLike<number>, apps: number, row: number, column: number): Cell {
  const rowSlowdown = slowdowns[row * apps + column] ?? 0;
  const columnSlowdown = slowdowns[column * apps + row] ?? 0;
  if (rowSlowdown < 0 || columnSlowdown < 0) {
    return { kind: 'never', rowSlowdown: NaN, columnSlowdown: NaN, rates: NaN };
  }
  if (!(rowSlowdown > 0 && columnSlowdown > 0)) {
    return { kind: 'unknown', rowSlowdown: NaN, columnSlowdown: NaN, rates: NaN };
  }
  return {
    kind: 'measured', rowSlowdown, columnSlowdown, rates: 1 / rowSlowdown + 1 / columnSlowdown,
  };
}

/**
 * Position on the colour scale, -1 to 1. 0: same as time slicing; 1: no slowdown; -1: half of time
 * slicing or less. Both measures share the scale, because time slicing is a slowdown of 2.
 */
export function tone(cell: Cell, measure: Measure): number {
  const rates = measure === 'rates' ? cell.rates : 2 / cell.rowSlowdown;
  return rates >= 1 ? Math.min(1, rates - 1) : Math.max(-1, 2 * (rates - 1));
}

export interface CellCounts {
  measured: number;
  never: number;
  unknown: number;
  /** Pairs that were co-located. */
  met: number;
}

/** Counts unordered pairs, including an application with itself. */
export function countPairs(
  slowdowns: ArrayLike<number>, together: ArrayLike<number>, apps: number,
): CellCounts {
  const counts = { measured: 0, never: 0, unknown: 0, met: 0 };
  for (let row = 0; row < apps; row++) {
    for (let column = row; column < apps; column++) {
      counts[cellOf(slowdowns, apps, row, column).kind]++;
      if ((together[row * apps + column] ?? 0) > 0) counts.met++;
    }
  }
  return counts;
}

/** Radius of the mark of a co-located pair, in cells. Its area grows with the co-located time. */
export function markRadius(hours: number, hoursMax: number): number {
  return hours > 0 && hoursMax > 0 ? 0.11 + 0.27 * Math.sqrt(hours / hoursMax) : 0;
}

/** "ResNet-18@batch 16" -> "ResNet-18 · 16": a short label for the matrix. */
export function shortName(app: string): string {
  return app.replace(/@batch (\d+)$/, ' · $1').replace('@', ' · ');
}

/** Index of the run with the most co-located launches; it is shown first. */
export function mostShared({ runs }: ReportDocument): number {
  const launches = runs.map((run) =>
    Object.values(numbersOf(run, 'prediction_levels')).reduce((sum, jobs) => sum + jobs, 0),
  );
  return Math.max(0, launches.indexOf(Math.max(...launches)));
}
