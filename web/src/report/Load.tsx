// GPUs held and waiting jobs over time.
import { useState } from 'preact/hooks';
import { Strip } from '../charts/Strip';
import { floatValues, type FloatColumn } from '../data/column';
import { type Curves, curvesOf } from '../data/curves';
import { figureOf, type ReportDocument } from '../data/document';
import { axisTime, clock, count, decimal, percent } from '../format';
import { Chart, type ChartData, type PicturesProps } from './Chart';
import { Panel, Section } from './Section';
import { Swatch } from '../Swatch';
import { useLoaded } from './useLoaded';

const SYNC = 'load';

async function readCurves(columns: FloatColumn[], stepS: number, scale: number): Promise<Curves> {
  return curvesOf(await Promise.all(columns.map(floatValues)), stepS, scale);
}

async function waitingData({ series }: ReportDocument): Promise<ChartData> {
  const curves = await readCurves(series.runs.map((run) => run.waiting), series.step_s, 1);
  return {
    ...curves, label: 'Number of waiting jobs over time, one line per policy.',
    xKind: 'time', syncKey: SYNC,
    xText: (at) => `${clock(at)} after the first submit`,
    yText: (y) => (y < 100 && !Number.isInteger(y) ? decimal(y, 1) : count(y)),
  };
}

/** One strip per policy, because several lines on top of each other would be unreadable. */
function HeldStrips({ report, visible, curves }: PicturesProps & { curves: Curves }) {
  const [at, setAt] = useState<number | null>(null);
  const shown = report.runs.flatMap((run, index) => (visible[index] ? [{ run, index }] : []));
  return (
    <>
      {shown.map(({ run, index }, i) => {
        const value = at === null ? null : curves.values[index]?.[at];
        const mean = figureOf(run, 'gpu_occupancy');
        return (
          <div key={run.policy} class="strip-row">
            <p class="strip-head">
              <span>
                <Swatch run={index} /> {run.policy}
              </span>
              <span class="hint">
                {at === null
                  ? `mean ${percent(mean)}`
                  : `${clock(curves.x[at] ?? 0)}: ${typeof value === 'number' ? percent(value) : 'ended'}`}
              </span>
            </p>
            <Strip label={`Share of GPUs held over time under ${run.policy}`} run={index} x={curves.x}
              values={curves.values[index] ?? []} axis={i === shown.length - 1} syncKey={SYNC}
              onCursor={setAt} />
          </div>
        );
      })}
    </>
  );
}

export function Load({ report, visible }: PicturesProps) {
  const { series, cluster } = report;
  const held = useLoaded(
    () => readCurves(series.runs.map((run) => run.held_gpus), series.step_s, 1 / cluster.gpus),
    [report],
  );
  const waiting = useLoaded(() => waitingData(report), [report]);
  return (
    <Section id="load" title="Load over time"
      howToRead={
        `Each point is the mean over ${axisTime(series.step_s, 1)}. GPUs not held while jobs wait are ` +
        'capacity that the policy could not use. Drag to zoom, double-click to reset.'
      }>
      <Panel title={`GPUs held, of ${count(cluster.gpus)}`}>
        {held ? (
          <HeldStrips report={report} visible={visible} curves={held} />
        ) : (
          <div class="chart-place" />
        )}
      </Panel>
      <Panel title="Waiting jobs">
        <Chart data={waiting} report={report} visible={visible} />
      </Panel>
    </Section>
  );
}
