// The GPUs of the cluster as cells, coloured by utilisation, PM score or power.
import { useMemo, useRef, useState } from 'preact/hooks';
import { Choice } from '../Choice';
import { decimal } from '../format';
import { findGpu } from './chosen_gpu';
import { reservationText } from './clock';
import { GpuCell } from './GpuCell';
import { GpuFacts } from './GpuFacts';
import { classesOf, hasReadings, type MapMode, type Range, rangeOf, valueOf } from './map_colors';
import { nodeNumbers, nodeWords } from './overview';
import { AreaHead, Empty } from './Parts';
import { jobHash } from './route';
import type { Cluster, Gpu } from './shapes';
import { useStore } from './useStore';

const MODES: readonly { key: MapMode; name: string; unit: string; why: string }[] = [
  { key: 'use', name: 'Utilisation', unit: '%', why: 'The utilisation of these GPUs is not measured.' },
  { key: 'speed', name: 'PM score', unit: '× median time', why: 'There are no PM scores; goban profile measures them.' },
  { key: 'power', name: 'Power', unit: 'W', why: 'The power of these GPUs is not measured.' },
];

function Controls({ cluster, mode, onMode, appClass, onClass, range }: {
  cluster: Cluster; mode: MapMode; onMode: (mode: MapMode) => void; appClass: number;
  onClass: (appClass: number) => void; range: Range;
}) {
  const { unit, why } = MODES.find(({ key }) => key === mode)!;
  const digits = mode === 'speed' ? 2 : 0;
  const classes = classesOf(cluster);
  return (
    <>
      <Choice label="Colour by" name="map-mode" options={MODES.map(({ name }) => name)}
        chosen={MODES.findIndex(({ key }) => key === mode)} onChoose={(i) => onMode(MODES[i]!.key)}>
        {mode === 'speed' && classes.length > 1 && (
          <label class="class-choice">
            Class{' '}
            <select value={appClass} onChange={(event) => onClass(Number(event.currentTarget.value))}>
              {classes.map((name, i) => <option key={name} value={i}>{name}</option>)}
            </select>
          </label>
        )}
      </Choice>
      <p class="heat-key map-key">
        {hasReadings(cluster, mode) ? (
          <>
            {decimal(range.low, digits)} <i class="heat-ramp" /> {decimal(range.high, digits)} {unit}
            {mode === 'speed' && ' (1 = the median GPU, lower is faster)'}
          </>
        ) : why}
        <span><i class="cell-sample" data-state="free" /> free</span>
        <span><i class="cell-sample" data-state="busy" /> held</span>
        <span><i class="cell-sample" data-state="shared" /> shared</span>
        <span><i class="cell-sample" data-state="drained" /> drained</span>
        <span><i class="cell-sample" data-state="asleep" /> asleep</span>
        <span><i class="cell-sample" data-state="down" /> down</span>
      </p>
    </>
  );
}

/** Moves the focus in the direction of the key. Returns false for other keys. */
function moveFocus(map: HTMLElement, from: HTMLElement, key: string): boolean {
  const cells = [...map.querySelectorAll<HTMLElement>('.gpu')];
  const at = cells.indexOf(from);
  if (key === 'ArrowRight' || key === 'ArrowLeft') {
    cells[at + (key === 'ArrowRight' ? 1 : -1)]?.focus();
    return true;
  }
  if (key === 'Home' || key === 'End') {
    cells.at(key === 'Home' ? 0 : -1)?.focus();
    return true;
  }
  if (key !== 'ArrowDown' && key !== 'ArrowUp') return false;
  const here = from.getBoundingClientRect();
  const down = key === 'ArrowDown';
  let best: HTMLElement | undefined;
  let least = Infinity;
  for (const cell of cells) {
    const there = cell.getBoundingClientRect();
    const dy = down ? there.top - here.top : here.top - there.top;
    // The nearest row of cells, then the nearest cell in it.
    const distance = dy * 1000 + Math.abs(there.left - here.left);
    if (dy > 1 && distance < least) [least, best] = [distance, cell];
  }
  best?.focus();
  return true;
}

export function ClusterMap() {
  const store = useStore();
  const { cluster } = store;
  const map = useRef<HTMLDivElement>(null);
  const [picked, setPicked] = useState<MapMode | null>(null);
  const [appClass, setAppClass] = useState(0);
  const [pointed, setPointed] = useState<number | null>(null);
  const mode = picked ?? (cluster && !hasReadings(cluster, 'use') && hasReadings(cluster, 'speed') ? 'speed' : 'use');
  const range = useMemo(
    () => (cluster ? rangeOf(cluster, mode, appClass) : { low: 0, high: 1 }), [cluster, mode, appClass]);
  if (!cluster) return <p class="loading">Loading the cluster…</p>;
  if (cluster.num_gpus === 0) {
    return (
      <>
        <AreaHead title="Cluster" />
        <Empty command="goban serve --virtual-gpus 4">
          This cluster has no GPUs. To try the scheduler with virtual GPUs, run:
        </Empty>
      </>
    );
  }
  const chosen = findGpu(cluster, pointed);
  const open = (gpu: Gpu) => {
    setPointed(gpu.gpu);
    if (gpu.jobs.length === 1) location.hash = jobHash(gpu.jobs[0]!);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const from = event.target as HTMLElement;
    if (map.current && from.matches('.gpu') && moveFocus(map.current, from, event.key)) event.preventDefault();
  };
  const reachable = chosen?.gpu.gpu ?? cluster.racks[0]?.nodes.find((node) => node.gpus.length > 0)?.gpus[0]?.gpu;
  return (
    <>
      <AreaHead title="Cluster" />
      <Controls cluster={cluster} mode={mode} onMode={setPicked} appClass={appClass} onClass={setAppClass}
        range={range} />
      <div class="map-layout">
        <div class="cluster-map" ref={map} onKeyDown={onKeyDown} role="group" aria-label="GPUs of the cluster">
          {cluster.racks.map((rack) => (
            <section key={rack.rack} class="rack" aria-label={cluster.racks.length > 1 ? rack.rack : undefined}>
              {cluster.racks.length > 1 && <h3>{rack.rack}</h3>}
              <div class="rack-nodes">
                {rack.nodes.map((node) => (
                  <div key={node.node} class="node" data-state={node.state}>
                    <p title={node.reason ?? node.node}>
                      {node.node}{node.state === 'up' ? '' : <em> {node.state}</em>}
                    </p>
                    <p class="node-numbers">{nodeWords(nodeNumbers(node))}</p>
                    {node.reservations?.map((each) => (
                      <p key={each.reservation}><em>{reservationText(each, store.nowS())}</em></p>
                    ))}
                    <div class="node-gpus">
                      {node.gpus.map((gpu, index) => (
                        <GpuCell key={gpu.gpu} gpu={gpu} node={node.node} index={index}
                          value={valueOf(gpu, mode, appClass)} range={range}
                          reachable={gpu.gpu === reachable} onPoint={setPointed} onOpen={open} />
                      ))}
                    </div>
                  </div>
                ))}
              </div>
            </section>
          ))}
        </div>
        <GpuFacts chosen={chosen} />
      </div>
    </>
  );
}
