// Power and energy of the cluster, and the trade-off between energy and JCT.
import { Scatter } from '../charts/Scatter';
import { ratio } from '../data/compare';
import { floatValues } from '../data/column';
import { curvesOf } from '../data/curves';
import { figureOf, type Energy, type ReportDocument, type Run } from '../data/document';
import {
  ACCOUNTINGS, energySoFar, HEADLINE, hasEnergy, kwhMax, kwhOf, type Letter, tradePoints,
} from '../data/energy';
import { axisTime, change, clock, decimal, duration, kwhText, unitText } from '../format';
import { Chart, type ChartData, type PicturesProps } from './Chart';
import { Panel, Section } from './Section';
import { Swatch } from '../Swatch';
import { useLoaded } from './useLoaded';
import { lineColor } from '../palette';

const SYNC = 'energy';

function chartOf(lines: number[][], stepS: number, base: string, label: string): ChartData {
  const most = lines.flat().reduce((max, value) => Math.max(max, value), 0);
  const text = unitText(most, base);
  return {
    ...curvesOf(lines, stepS), label,
    xKind: 'time', syncKey: SYNC, yMax: most > 0 ? 1.05 * most : 1,
    xText: (at) => `${clock(at)} after the first submit`, yText: text.exact, yAxisText: text.axis,
  };
}

async function loadPower(energy: Energy): Promise<{ power: ChartData; used: ChartData }> {
  const power = await Promise.all(energy.runs.map((run) => floatValues(run.power_w)));
  const used = power.map((line, i) => energySoFar(line, energy.step_s, energy.runs[i]!.end_s));
  return {
    power: chartOf(power.map((line) => [...line]), energy.step_s, 'W',
      'Power of the cluster over time, one line per policy. The table of this section has the energy.'),
    used: chartOf(used, energy.step_s, 'Wh',
      'Energy used since the first submit, one line per policy. The table of this section has the totals.'),
  };
}

function EnergyCell({ run, base, index, letter, most }: {
  run: Run; base: Run | undefined; index: number; letter: Letter; most: number;
}) {
  const kwh = kwhOf(run, letter);
  const against = base && base !== run ? change(ratio(kwh, kwhOf(base, letter))) : '';
  const width = most > 0 && Number.isFinite(kwh) ? (100 * kwh) / most : 0;
  return (
    <td class={letter === HEADLINE ? 'headline' : ''}>
      <span class="energy-text">
        <b>{kwhText(kwh)}</b> {against}
      </span>
      <div class="energy-bar" aria-hidden="true">
        <i style={{ width: `${width}%`, background: `var(${lineColor(index)})` }} />
      </div>
    </td>
  );
}

/** Rows are policies, columns are accountings. All bars share one scale. */
function EnergyTable({ report }: { report: ReportDocument }) {
  const most = kwhMax(report.runs);
  const base = report.runs[report.reference];
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Energy by policy and accounting">
      <table class="energy-table">
        <thead>
          <tr>
            <th scope="col">Policy</th>
            {ACCOUNTINGS.map(({ letter, title, meaning }) => (
              <th key={letter} scope="col" class={letter === HEADLINE ? 'headline' : ''}>
                {letter === HEADLINE && <span class="tag">headline</span>}
                {letter}: {title}
                <small>{meaning}</small>
              </th>
            ))}
            <th scope="col" class="number">Active nodes<small>mean over the makespan</small></th>
          </tr>
        </thead>
        <tbody>
          {report.runs.map((run, index) => (
            <tr key={run.policy}>
              <th scope="row">
                <Swatch run={index} /> {run.policy}
              </th>
              {ACCOUNTINGS.map(({ letter }) => (
                <EnergyCell key={letter} run={run} base={base} index={index} letter={letter} most={most} />
              ))}
              <td class="number">{decimal(figureOf(run, 'avg_active_nodes'), 1)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function TradeOff({ report, visible }: PicturesProps) {
  const points = tradePoints(report.runs).filter((point) => visible[point.run] ?? true);
  return (
    <Scatter reference={report.reference}
      label={`Energy under accounting D against average JCT: ${points
        .map((point) => `${point.policy} ${kwhText(point.kwh)}, ${duration(point.jctS)}`)
        .join('; ')}.`}
      points={points.map((point) => ({
        run: point.run, name: point.policy, x: point.jctS / 3600, y: point.kwh, front: point.front,
      }))}
      xTitle="average JCT" yTitle="energy, D" yText={kwhText} xText={(hours) => duration(hours * 3600)} />
  );
}

export function EnergySection({ report, visible }: PicturesProps) {
  const { energy } = report;
  const charts = useLoaded(async () => (energy ? loadPower(energy) : undefined), [report]);
  if (!hasEnergy(report)) return null;
  const reference = report.runs[report.reference]?.policy ?? '';
  return (
    <Section id="energy" title="Energy"
      howToRead={
        'Energy of the whole cluster from the first submit to the last finish. The four accountings ' +
        'differ only in what they charge for idle nodes. D, the headline, lets nodes sleep under every policy.'
      }>
      <div class="panel">
        <h3>Energy by policy and accounting</h3>
        <p class="how">
          All bars share one scale. Percentages are changes relative to {reference}.
        </p>
        <EnergyTable report={report} />
      </div>
      {energy && (
        <Panel title={`Power of the cluster under D, mean over ${axisTime(energy.step_s, 1)}`}>
          <Chart data={charts?.power} report={report} visible={visible} />
        </Panel>
      )}
      <div class="pair pictures">
        {energy && (
          <Panel title="Cumulative energy under D">
            <Chart data={charts?.used} report={report} visible={visible} />
          </Panel>
        )}
        <Panel title="Trade-off: energy under D against average JCT">
          <TradeOff report={report} visible={visible} />
          <p class="hint">
            Dashed lines mark {reference}. The axes do not start at 0. Filled points are Pareto-optimal: no
            other policy is better in one and at least equal in the other.
          </p>
        </Panel>
      </div>
    </Section>
  );
}
