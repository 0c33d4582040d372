// Utilisation, memory and power of a job's GPUs since the start of its run.
import { useMemo, useState } from 'preact/hooks';
import { LineChart } from '../charts/LineChart';
import { Choice } from '../Choice';
import { decimal } from '../format';
import { shortDuration } from './clock';
import { holdsGpus } from './queue';
import { joined, type Reading } from './samples';
import type { JobSummary } from './shapes';
import { useRequest, useStore } from './useStore';

/** More lines cannot be distinguished. */
const LINES_MAX = 8;
/** Recorded samples are requested again before this page drops its own samples. */
const ASK_EVERY_S = 300;

const KINDS = [
  { key: 'utilPct', name: 'Utilisation', unit: '%', digits: 0 },
  { key: 'memGib', name: 'Memory', unit: 'GiB', digits: 1 },
  { key: 'powerW', name: 'Power', unit: 'W', digits: 0 },
] as const;

/** `mayRead`: whether the user may read the job's recorded samples. */
export function GpuCurves({ job, mayRead }: { job: JobSummary; mayRead: boolean }) {
  const store = useStore();
  const [kind, setKind] = useState<(typeof KINDS)[number]['key']>('utilPct');
  const holds = holdsGpus(job);
  const period = holds ? Math.floor(store.nowS() / ASK_EVERY_S) : 0;
  const past = useRequest(
    () => (mayRead ? store.api.series(job.job) : Promise.resolve(null)),
    [job.job, job.runs, job.run_start_s, holds, mayRead, period],
  ).value;
  const recorded = past?.job === job.job && past.gpus.length > 0 ? past : null;
  const places = (holds ? job.gpus : recorded?.gpus ?? job.gpus) ?? [];
  const gpus = places.slice(0, LINES_MAX);
  const fromS = (holds ? job.run_start_s : recorded?.from_s) ?? 0;
  const seen = gpus.map(({ gpu }) => (holds ? store.samples.of(gpu, fromS) : []));
  const last = seen[0]?.at(-1)?.atS ?? 0;
  const rows = useMemo(() => joined(
    gpus.map(({ gpu }) => recorded?.gpus.find((each) => each.gpu === gpu)?.points ?? [])
      .map((points) => points.filter(({ at_s }) => at_s >= fromS)), seen,
  ), [last, job.job, recorded, fromS]);
  const { name, unit, digits } = KINDS.find(({ key }) => key === kind)!;
  const value = (reading: Reading | null | undefined) => reading?.[kind] ?? null;
  const x = useMemo(() => rows.atS.map((at) => at - fromS), [rows, kind]);
  const known = rows.readings.some((readings) => readings.some((reading) => value(reading) !== null));
  const missing = x.length === 0 ? 'There are no samples of these GPUs yet.' : `The ${name.toLowerCase()} of these GPUs is not measured.`;
  return (
    <section class="panel" aria-label="GPUs">
      <h3>GPUs</h3>
      <Choice label="Metric" labelHidden name="curve-kind" options={KINDS.map((each) => each.name)}
        chosen={KINDS.findIndex(({ key }) => key === kind)} onChoose={(i) => setKind(KINDS[i]!.key)} />
      {known && x.length > 1 ? (
        <LineChart label={`${name} of the GPUs of job ${job.id} during its run.`} x={x}
          lines={gpus.map((gpu, i) => ({
            label: `${gpu.node} GPU ${gpu.index}`, run: i, visible: true,
            values: x.map((_, at) => value(rows.readings[i]?.[at])),
          }))}
          xKind="time" xText={(at) => `${shortDuration(at)} after the start`}
          yText={(y) => `${decimal(y, digits)} ${unit}`} height={200}
          {...(kind === 'utilPct' ? { yMax: 100 } : {})} />
      ) : <p class="hint">{known ? 'The curve starts with the next sample.' : missing}</p>}
      <p class="hint">
        {recorded ? 'Samples since the start of the run' : 'Samples since this page was opened'}
        {places.length > LINES_MAX && `, of the first ${LINES_MAX} GPUs`}.
      </p>
    </section>
  );
}
