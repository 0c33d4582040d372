// Values and colour scales of the cluster map.
import { classLetter } from '../format';
import type { Cluster, Gpu } from './shapes';

export type MapMode = 'use' | 'speed' | 'power';

/** Ends of a scale. */
export interface Range {
  low: number;
  high: number;
}

function gpusOf(cluster: Cluster): Gpu[] {
  return cluster.racks.flatMap((rack) => rack.nodes.flatMap((node) => node.gpus));
}

export function hasReadings(cluster: Cluster, mode: MapMode): boolean {
  return gpusOf(cluster).some((gpu) => valueOf(gpu, mode, 0) !== null);
}

/** The value of a cell; null if unknown. `appClass` is 0 for class A. */
export function valueOf(gpu: Gpu, mode: MapMode, appClass: number): number | null {
  switch (mode) {
    case 'use': return gpu.util_pct ?? null;
    case 'speed': return gpu.scores[appClass] ?? null;
    case 'power': return gpu.power_w ?? null;
  }
}

export function rangeOf(cluster: Cluster, mode: MapMode, appClass: number): Range {
  if (mode === 'use') return { low: 0, high: 100 };
  const values = gpusOf(cluster).map((gpu) => valueOf(gpu, mode, appClass))
    .filter((value) => value !== null);
  const most = values.reduce((a, b) => Math.max(a, b), 0);
  if (mode === 'power') return { low: 0, high: Math.max(1, most) };
  const least = values.reduce((a, b) => Math.min(a, b), 1);
  // At least 5 % on both sides of the median, so that small differences do not look large.
  return { low: Math.min(0.95, least), high: Math.max(1.05, most) };
}

/** Step of the heat scale, 0 to 8; null if unknown. */
export function heatStep(value: number | null, { low, high }: Range): number | null {
  if (value === null) return null;
  return Math.round(8 * Math.max(0, Math.min(1, (value - low) / (high - low))));
}

/** Letters of the classes that have PM scores: A, B, ... */
export function classesOf(cluster: Cluster): string[] {
  const most = gpusOf(cluster).reduce((count, gpu) => Math.max(count, gpu.scores.length), 0);
  return Array.from({ length: most }, (_, i) => classLetter(i));
}
