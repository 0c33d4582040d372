// Cells of the co-location matrix: what two applications on one GPU do to each other.

import { numbersOf, type ReportDocument } from './document';

export function hasColocation({ colocation }: ReportDocument): boolean {
  return colocation !== undefined && colocation.apps.length > 0 && colocation.gpu_types.length > 0;
}

export type CellKind = 'measured' | 'never' | 'unknown';
export type Measure = 'rates' | 'slowdown';

export interface Cell {
  kind: CellKind;
  /** Time of the row's application beside the column's / alone. */
  rowSlowdown: number;
  /** That of the column's application. */
  columnSlowdown: number;
  /** Work of both a second, in units of one alone: 1 is what taking turns gives. */
  rates: number;
}

/** `slowdowns` row by row: 0 = not measured, below 0 = never. */
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
 * -1 to 1: 0 is what taking turns gives, 1 as if each were alone, -1 half of taking turns or less.
 * One scale for both measures: a slowdown of 2 is taking turns, too.
 */
export function tone(cell: Cell, measure: Measure): number {
  const rates = measure === 'rates' ? cell.rates : 2 / cell.rowSlowdown;
  return rates >= 1 ? Math.min(1, rates - 1) : Math.max(-1, 2 * (rates - 1));
}

export interface CellCounts {
  measured: number;
  never: number;
  unknown: number;
  /** Pairs that were together on a GPU. */
  met: number;
}

/** Of unordered pairs, an application beside itself among them. */
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

/** Radius of the mark of a pair that met, in cells: its area grows with the time together. */
export function markRadius(hours: number, hoursMax: number): number {
  return hours > 0 && hoursMax > 0 ? 0.11 + 0.27 * Math.sqrt(hours / hoursMax) : 0;
}

/** "ResNet-18@batch 16" -> "ResNet-18 · 16": the matrix has little room. */
export function shortName(app: string): string {
  return app.replace(/@batch (\d+)$/, ' · $1').replace('@', ' · ');
}

/** The run that launched most jobs beside others: the one to look at first. */
export function mostShared({ runs }: ReportDocument): number {
  const launches = runs.map((run) =>
    Object.values(numbersOf(run, 'prediction_levels')).reduce((sum, jobs) => sum + jobs, 0),
  );
  return Math.max(0, launches.indexOf(Math.max(...launches)));
}
