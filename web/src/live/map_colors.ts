// What the cells of the cluster map show, and how hot each is.
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

/** What a cell shows in that mode; null: not known. `appClass` is 0 for A. */
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
  // Equal GPUs should not look different: at least five percent to both sides of the median.
  return { low: Math.min(0.95, least), high: Math.max(1.05, most) };
}

/** Step of the heat scale from 0 to 8; null: not known. */
export function heatStep(value: number | null, { low, high }: Range): number | null {
  if (value === null) return null;
  return Math.round(8 * Math.max(0, Math.min(1, (value - low) / (high - low))));
}

/** Median times of the classes: A, B, ... */
export function classesOf(cluster: Cluster): string[] {
  const most = gpusOf(cluster).reduce((count, gpu) => Math.max(count, gpu.scores.length), 0);
  return Array.from({ length: most }, (_, i) => classLetter(i));
}
