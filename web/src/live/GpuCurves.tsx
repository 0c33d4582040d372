// Utilisation, memory and power of the GPUs of a running job, since this page was opened.
import { useMemo, useState } from 'preact/hooks';
import { LineChart } from '../charts/LineChart';
import { decimal } from '../format';
import { shortDuration } from './clock';
import type { Reading } from './samples';
import type { JobSummary } from './shapes';
import { useStore } from './useStore';

/** More lines than this cannot be told apart. */
const LINES_MAX = 8;

const KINDS = [
  { key: 'utilPct', name: 'Utilisation', unit: '%', digits: 0 },
  { key: 'memGib', name: 'Memory', unit: 'GiB', digits: 1 },
  { key: 'powerW', name: 'Power', unit: 'W', digits: 0 },
] as const;

export function GpuCurves({ job }: { job: JobSummary }) {
  const store = useStore();
  const [kind, setKind] = useState<(typeof KINDS)[number]['key']>('utilPct');
  const gpus = (job.gpus ?? []).slice(0, LINES_MAX);
  const fromS = job.run_start_s ?? 0;
  const all = gpus.map(({ gpu }) => store.samples.of(gpu, fromS));
  const length = Math.max(0, ...all.map((readings) => readings.length));
  const last = all[0]?.at(-1)?.atS ?? 0;
  const { name, unit, digits } = KINDS.find(({ key }) => key === kind)!;
  const value = (reading: Reading | undefined) => reading?.[kind] ?? null;
  const x = useMemo(() => (all[0] ?? []).map((reading) => reading.atS - fromS), [last, job.job, kind]);
  const known = all.some((readings) => readings.some((reading) => reading[kind] !== null));
  const missing = length === 0 ? 'No reading of these GPUs has come yet.' : `No instrument reads the ${name.toLowerCase()} of these GPUs.`;
  return (
    <section class="panel" aria-label="GPUs">
      <h3>GPUs</h3>
      <fieldset class="choice">
        <legend class="visually-hidden">What the curves show</legend>
        {KINDS.map((each) => (
          <label key={each.key}>
            <input type="radio" name="curve-kind" checked={kind === each.key} onChange={() => setKind(each.key)} />
            <span>{each.name}</span>
          </label>
        ))}
      </fieldset>
      {known && x.length > 1 ? (
        <LineChart label={`${name} of the GPUs of job ${job.id} over the time it runs.`} x={x}
          lines={gpus.map((gpu, i) => ({
            label: `${gpu.node} GPU ${gpu.index}`, run: i, visible: true,
            values: x.map((_, at) => value(all[i]?.[at])),
          }))}
          xKind="time" xText={(at) => `${shortDuration(at)} after the start`}
          yText={(y) => `${decimal(y, digits)} ${unit}`} height={200}
          {...(kind === 'utilPct' ? { yMax: 100 } : {})} />
      ) : <p class="hint">{known ? 'The curve begins with the next reading.' : missing}</p>}
      <p class="hint">
        Readings since this page was opened{(job.gpus?.length ?? 0) > LINES_MAX && `, of the first ${LINES_MAX} GPUs`}.
      </p>
    </section>
  );
}
