// Training curves from the TensorBoard event files of a job.
import { useMemo, useState } from 'preact/hooks';
import { LineChart } from '../charts/LineChart';
import { count } from '../format';
import { Swatch } from '../Swatch';
import { eventCharts, rangeOf, type EventChart } from './event_charts';
import type { JobDetails } from './shapes';
import { useRequest, useStore } from './useStore';

const ASK_EVERY_S = 30;
const CHARTS_AT_FIRST = 6;

function valueText(value: number): string {
  return String(Number(value.toPrecision(4)));
}

function Chart({ job, chart }: { job: JobDetails; chart: EventChart }) {
  const [low, high] = rangeOf(chart);
  return (
    <figure class="event-chart">
      <figcaption>{chart.tag}</figcaption>
      {chart.isLine ? (
        <LineChart label={`${chart.tag} of job ${job.id} by step`} height={170} x={chart.steps} xKind="time"
          lines={chart.lines.map(({ run, values }, i) => ({ label: run, run: i, visible: true, values }))}
          xText={(step) => `step ${count(step)}`} xAxisText={count} yText={valueText} yMin={low} yMax={high} />
      ) : (
        <p>{chart.lines.map(({ run, values }) => `${run === '.' ? '' : `${run}: `}${valueText(values.find((v) => v !== null) ?? NaN)}`).join(', ')}</p>
      )}
      {chart.lines.length > 1 && (
        <ul class="event-runs">
          {chart.lines.map(({ run }, i) => <li key={run}><Swatch run={i} /> {run}</li>)}
          {chart.more > 0 && <li>and {count(chart.more)} more</li>}
        </ul>
      )}
      {chart.notFinite > 0 && <p class="hint">{count(chart.notFinite)} values are infinite or not a number.</p>}
    </figure>
  );
}

export function EventCurves({ job, over }: { job: JobDetails; over: boolean }) {
  const store = useStore();
  const [all, setAll] = useState(false);
  const period = over ? 0 : Math.floor(store.nowS() / ASK_EVERY_S);
  const read = useRequest(() => store.api.curves(job.job), [job.job, period, over]).value;
  const charts = useMemo(() => eventCharts(read?.curves ?? []), [read]);
  if (!read?.folder || (charts.length === 0 && !read.problems)) return null;
  return (
    <section class="panel" aria-label="Training curves">
      <h3>Training curves</h3>
      <div class="event-charts">
        {(all ? charts : charts.slice(0, CHARTS_AT_FIRST)).map((chart) => <Chart key={chart.tag} job={job} chart={chart} />)}
      </div>
      {!all && charts.length > CHARTS_AT_FIRST && (
        <button type="button" onClick={() => setAll(true)}>Show all {count(charts.length)} charts</button>
      )}
      {read.problems?.map((problem) => <p key={problem} class="note">{problem}</p>)}
      <p class="hint">
        From {count(read.files)} TensorBoard event {read.files === 1 ? 'file' : 'files'} in {read.folder}
        {read.was_cut ? '; there is more than this page reads' : ''}.
      </p>
    </section>
  );
}
