// The numbers of the overview: sums over nodes, and the last hours on a time axis.
import { twoDigits } from '../format';
import type { Cluster, ClusterNode, Overview } from './shapes';

export interface NodeNumbers {
  held: number;
  all: number;
  /** Mean over its measured GPUs; null if none is measured. */
  utilPct: number | null;
  powerW: number | null;
}

export function nodeNumbers(node: ClusterNode): NodeNumbers {
  const utils = node.gpus.flatMap(({ util_pct }) => (util_pct === undefined ? [] : [util_pct]));
  const powers = node.gpus.flatMap(({ power_w }) => (power_w === undefined ? [] : [power_w]));
  const sum = (values: number[]) => values.reduce((a, b) => a + b, 0);
  return {
    held: node.held_gpus, all: node.num_gpus,
    utilPct: utils.length > 0 ? sum(utils) / utils.length : null,
    powerW: powers.length > 0 ? sum(powers) : null,
  };
}

/** "3 of 4 · 72 % · 910 W": what is not measured is left out. */
export function nodeWords({ held, all, utilPct, powerW }: NodeNumbers): string {
  const parts = [`${held} of ${all}`];
  if (utilPct !== null) parts.push(`${Math.round(utilPct)} %`);
  if (powerW !== null) parts.push(powerW < 10_000 ? `${Math.round(powerW)} W` : `${Math.round(powerW / 1000)} kW`);
  return parts.join(' · ');
}

export function nodesOf(cluster: Cluster): ClusterNode[] {
  return cluster.racks.flatMap((rack) => rack.nodes);
}

/** Middles of the steps in seconds since the local midnight before the period, so that ticks are at round hours. */
export function stepTimes({ from_s, step_s, held_gpus }: Overview): { midnightS: number; x: number[] } {
  const midnightS = new Date(from_s * 1000).setHours(0, 0, 0, 0) / 1000;
  return { midnightS, x: held_gpus.map((_, i) => from_s + (i + 0.5) * step_s - midnightS) };
}

/** "14:30" */
export function hourText(seconds: number): string {
  const at = new Date(seconds * 1000);
  return `${twoDigits(at.getHours())}:${twoDigits(at.getMinutes())}`;
}

/** Power by step in kW; null where it was not measured. */
export function powerByStep({ from_s, step_s, held_gpus, power }: Overview): (number | null)[] {
  const out: (number | null)[] = held_gpus.map(() => null);
  for (const { at_s, power_w } of power ?? []) {
    const step = Math.floor((at_s - from_s) / step_s);
    if (step >= 0 && step < out.length && power_w !== undefined) out[step] = power_w / 1000;
  }
  return out;
}

/** Mean share of the GPUs that jobs held; null without GPUs. */
export function meanLoad({ held_gpus, num_gpus }: Overview): number | null {
  if (num_gpus === 0 || held_gpus.length === 0) return null;
  return held_gpus.reduce((a, b) => a + b, 0) / held_gpus.length / num_gpus;
}
