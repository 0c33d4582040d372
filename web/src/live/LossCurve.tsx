// The loss that a job reported, over its steps or over time.
import { useMemo } from 'preact/hooks';
import { LineChart } from '../charts/LineChart';
import { count } from '../format';
import { timeOfDay } from './clock';
import { lossPoints } from './loss_points';
import type { JobDetails } from './shapes';
import { useRequest, useStore } from './useStore';

const ASK_EVERY_S = 10;

function lossText(loss: number): string {
  return String(Number(loss.toPrecision(4)));
}

export function LossCurve({ job, over }: { job: JobDetails; over: boolean }) {
  const store = useStore();
  const period = over ? 0 : Math.floor(store.nowS() / ASK_EVERY_S);
  const curve = useRequest(() => store.api.progress(job.job), [job.job, period, over]).value;
  const { bySteps, x, loss } = useMemo(
    () => (curve ? lossPoints(curve) : { bySteps: false, x: [], loss: [] }), [curve]);
  if (x.length < 2) return null;
  const startS = x[0]!;
  return (
    <section class="panel" aria-label="Loss">
      <h3>Loss</h3>
      <LineChart label={`Loss of job ${job.id} by ${bySteps ? 'step' : 'time'}`} height={180}
        x={bySteps ? x : x.map((at) => at - startS)} xKind="time"
        lines={[{ label: 'loss', run: 0, visible: true, values: loss }]}
        xText={(at) => (bySteps ? `step ${count(at)}` : timeOfDay(startS + at, store.nowS()))}
        {...(bySteps ? { xAxisText: count } : {})} yText={lossText} yMax={1.05 * Math.max(...loss)} />
      <p class="hint">As reported by the job, since the daemon started.</p>
    </section>
  );
}
