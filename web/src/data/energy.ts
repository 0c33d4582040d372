// Energy of the runs: kWh by accounting, energy over time, trade-off against JCT.
import { figureOf, numbersOf, type ReportDocument, type Run } from './document';

export type Letter = 'A' | 'B' | 'C' | 'D';

export interface Accounting {
  letter: Letter;
  title: string;
  meaning: string;
}

/** The headline comes first. */
export const ACCOUNTINGS: readonly Accounting[] = [
  { letter: 'D', title: 'every policy may sleep',
    meaning: 'idle nodes go to sleep after a timeout, under every policy' },
  { letter: 'A', title: 'active nodes only', meaning: 'idle nodes use no energy' },
  { letter: 'B', title: 'idle nodes stay on', meaning: 'no node ever sleeps' },
  { letter: 'C', title: 'only EaCO sleeps',
    meaning: 'as D for policies that put nodes to sleep themselves, as B for the others' },
];
export const HEADLINE: Letter = 'D';

/** kWh of the cluster; NaN if the run has no energy figures. */
export function kwhOf(run: Run, accounting: Letter): number {
  return numbersOf(run, 'energy_kwh')[accounting] ?? NaN;
}

export function hasEnergy(report: ReportDocument): boolean {
  return report.runs.some((run) => Number.isFinite(kwhOf(run, HEADLINE)));
}

/** Maximum over all runs and accountings: the length of a full bar. */
export function kwhMax(runs: Run[]): number {
  const all = runs.flatMap((run) => ACCOUNTINGS.map(({ letter }) => kwhOf(run, letter)));
  return all.filter(Number.isFinite).reduce((most, value) => Math.max(most, value), 0);
}

/** Cumulative watt-hours at the start of each step and at the end of the run. */
export function energySoFar(powerW: ArrayLike<number>, stepS: number, endS: number): number[] {
  const out = [0];
  for (let i = 0; i < powerW.length; i++) {
    const span = Math.max(0, Math.min(stepS, endS - i * stepS));
    out.push(out[i]! + (powerW[i]! * span) / 3600);
  }
  return out;
}

export interface TradePoint {
  run: number;
  policy: string;
  jctS: number;
  kwh: number;
  /** Pareto-optimal: no other policy is better in one and at least equal in the other. */
  front: boolean;
}

/** Energy under D against average JCT. Runs without both are omitted. */
export function tradePoints(runs: Run[]): TradePoint[] {
  const points = runs
    .map((run, index) => ({
      run: index, policy: run.policy, jctS: figureOf(run, 'avg_jct_s'), kwh: kwhOf(run, HEADLINE),
      front: false,
    }))
    .filter((point) => Number.isFinite(point.jctS) && Number.isFinite(point.kwh));
  for (const point of points) {
    point.front = !points.some(
      (other) =>
        other.jctS <= point.jctS && other.kwh <= point.kwh &&
        (other.jctS < point.jctS || other.kwh < point.kwh),
    );
  }
  return points;
}
