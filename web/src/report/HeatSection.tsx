// Heat map: the share of time each GPU or node was held, over time.
import { useState } from 'preact/hooks';
import { HeatMap } from '../charts/HeatMap';
import { wholeValues } from '../data/column';
import type { ReportDocument } from '../data/document';
import { axisTime, clock } from '../format';
import { PolicyChoice } from './PolicyBar';
import { Section } from './Section';
import { useLoaded } from './useLoaded';

const ROWS = {
  gpu: 'Each row is a GPU', node: 'Each row is a node', nodes: 'Each row is a group of adjacent nodes',
} as const;

function HeatKey() {
  return (
    <p class="heat-key" aria-hidden="true">
      idle <span class="heat-ramp" /> always held
    </p>
  );
}

export function HeatSection({ report, first }: { report: ReportDocument; first: number }) {
  const { heat, runs } = report;
  const [run, setRun] = useState(first);
  const data = heat.runs[run];
  const percent = useLoaded(
    async () => (data ? { run, values: await wholeValues(data.percent) } : undefined), [run],
  );
  const policy = runs[run]?.policy ?? '';
  const cellText = (row: number, column: number) => {
    const share = percent?.values[row * (data?.columns ?? 0) + column] ?? 0;
    const from = column * heat.step_s;
    return `${heat.labels[row] ?? ''}, ${clock(from)} to ${clock(from + heat.step_s)}: held ${share} %`;
  };
  return (
    <Section id="heat" title="Heat map of the cluster"
      howToRead={
        `${ROWS[heat.kind]}, each column ${axisTime(heat.step_s, 1)}. The colour shows the share of that ` +
        'time in which jobs held it. Rows near the idle colour are GPUs that the policy avoids.'
      }>
      <PolicyChoice label="Policy" name="heat-policy" policies={runs.map((each) => each.policy)}
        chosen={run} onChoose={setRun} />
      <div class="panel">
      <HeatKey />
      {data && percent && percent.run === run ? (
        <HeatMap
          label={`Share of time held, ${heat.labels.length} rows over time under ${policy}`}
          rowLabels={heat.labels} columns={data.columns} stepS={heat.step_s}
          columnsMax={Math.max(...heat.runs.map((each) => each.columns))}
          percent={percent.values} cellText={cellText} />
      ) : (
        <div class="chart-place" />
      )}
      </div>
    </Section>
  );
}
