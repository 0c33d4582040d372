// The GPU selected in the cluster map.
import type { Cluster, ClusterNode, Gpu } from './shapes';

export interface ChosenGpu {
  node: ClusterNode;
  gpu: Gpu;
}

/** The GPU with that number in the cluster; null if there is none. */
export function findGpu(cluster: Cluster, wanted: number | null): ChosenGpu | null {
  if (wanted === null) return null;
  for (const rack of cluster.racks) {
    for (const node of rack.nodes) {
      const gpu = node.gpus.find((each) => each.gpu === wanted);
      if (gpu) return { node, gpu };
    }
  }
  return null;
}
