// GPU samples for charts: those recorded by the daemon, then those seen since the page was opened.
import { gib } from '../format';
import type { Cluster, GpuPoint } from './shapes';

export interface Reading {
  atS: number;
  utilPct: number | null;
  powerW: number | null;
  memGib: number | null;
}

export class Samples {
  private readonly byGpu = new Map<number, Reading[]>();

  /** Keeps up to `most` samples per GPU. */
  constructor(private readonly most = 720) {}

  add(cluster: Cluster, atS: number): void {
    for (const rack of cluster.racks) {
      for (const node of rack.nodes) {
        for (const gpu of node.gpus) {
          if (gpu.util_pct === undefined && gpu.power_w === undefined
            && gpu.mem_used_bytes === undefined) continue;
          const readings = this.byGpu.get(gpu.gpu) ?? [];
          if (readings.length === 0) this.byGpu.set(gpu.gpu, readings);
          readings.push({
            atS, utilPct: gpu.util_pct ?? null, powerW: gpu.power_w ?? null,
            memGib: gpu.mem_used_bytes === undefined ? null : gib(gpu.mem_used_bytes),
          });
          if (readings.length > this.most) readings.splice(0, readings.length - this.most);
        }
      }
    }
  }

  /** Samples of one GPU from `fromS` on. */
  of(gpu: number, fromS: number): Reading[] {
    return (this.byGpu.get(gpu) ?? []).filter((reading) => reading.atS >= fromS);
  }
}

function recorded(point: GpuPoint): Reading {
  return {
    atS: point.at_s, utilPct: point.util_pct ?? null, powerW: point.power_w ?? null,
    memGib: point.mem_used_bytes === undefined ? null : gib(point.mem_used_bytes),
  };
}

/** Samples on a common time axis; null where a GPU has no sample. */
export interface Rows {
  atS: number[];
  /** By GPU, then by time. */
  readings: (Reading | null)[][];
}

/** Joins recorded and seen samples by GPU. From the first seen sample on, only seen ones count. */
export function joined(past: readonly GpuPoint[][], seen: readonly Reading[][]): Rows {
  const firstSeen = Math.min(...seen.map((readings) => readings[0]?.atS ?? Infinity));
  const byTime = seen.map((readings, gpu) => new Map<number, Reading>([
    ...(past[gpu] ?? []).filter((point) => point.at_s < firstSeen)
      .map((point): [number, Reading] => [point.at_s, recorded(point)]),
    ...readings.map((reading): [number, Reading] => [reading.atS, reading]),
  ]));
  const atS = [...new Set(byTime.flatMap((readings) => [...readings.keys()]))].sort((a, b) => a - b);
  return { atS, readings: byTime.map((readings) => atS.map((at) => readings.get(at) ?? null)) };
}
