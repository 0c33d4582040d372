// One GPU of the map. There may be thousands, so a cell renders again only if it changed.
import { Component } from 'preact';
import { heatStep, type Range } from './map_colors';
import type { Gpu } from './shapes';

interface GpuCellProps {
  gpu: Gpu;
  node: string;
  index: number;
  value: number | null;
  range: Range;
  /** Whether Tab reaches this cell; true for one cell of the map. */
  reachable: boolean;
  onPoint: (gpu: number) => void;
  onOpen: (gpu: Gpu) => void;
}

/** GPU states as text. */
export const GPU_STATES = {
  free: 'free', busy: 'held', shared: 'shared', drained: 'drained', asleep: 'asleep', down: 'down',
};

export class GpuCell extends Component<GpuCellProps> {
  override shouldComponentUpdate(next: GpuCellProps): boolean {
    const now = this.props;
    return heatStep(next.value, next.range) !== heatStep(now.value, now.range)
      || next.gpu.state !== now.gpu.state || next.reachable !== now.reachable
      || next.gpu.jobs.join() !== now.gpu.jobs.join();
  }

  override render({ gpu, node, index, value, range, reachable, onPoint }: GpuCellProps) {
    const step = heatStep(value, range);
    const jobs = gpu.jobs.length === 0 ? '' : `, job ${gpu.jobs.join(' and ')}`;
    return (
      <button type="button" class={step === null ? 'gpu unknown' : `gpu heat-step-${step}`}
        data-state={gpu.state} data-gpu={gpu.gpu} tabIndex={reachable ? 0 : -1}
        aria-label={`${node} GPU ${index}: ${GPU_STATES[gpu.state]}${jobs}`}
        onFocus={() => onPoint(gpu.gpu)} onPointerEnter={() => onPoint(gpu.gpu)}
        onClick={() => this.props.onOpen(this.props.gpu)} />
    );
  }
}
