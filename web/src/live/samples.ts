// Readings of the GPUs since the page was opened, for curves.
import type { Cluster } from './shapes';

export interface Reading {
  atS: number;
  utilPct: number | null;
  powerW: number | null;
  memGib: number | null;
}

const GIB = 2 ** 30;

export class Samples {
  private readonly byGpu = new Map<number, Reading[]>();

  /** Keeps `most` readings of each GPU. */
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
            memGib: gpu.mem_used_bytes === undefined ? null : gpu.mem_used_bytes / GIB,
          });
          if (readings.length > this.most) readings.splice(0, readings.length - this.most);
        }
      }
    }
  }

  /** Of one GPU, from `fromS` on. */
  of(gpu: number, fromS: number): Reading[] {
    return (this.byGpu.get(gpu) ?? []).filter((reading) => reading.atS >= fromS);
  }
}
