// Distributions of JCT and wait time over all jobs.
import { floatValues } from '../data/column';
import type { Distribution } from '../data/document';
import { duration, percent } from '../format';
import { Chart, type ChartData, type PicturesProps } from './Chart';
import { Panel, Section } from './Section';
import { useLoaded } from './useLoaded';

async function distributionData(
  distribution: Distribution, label: string, done: string,
): Promise<ChartData> {
  const [at, ...shares] = await Promise.all([distribution.at_s, ...distribution.shares].map(floatValues));
  return {
    label, x: [...at!], values: shares.map((share) => [...share]), xKind: 'log-duration',
    xText: (x) => `${done} ${duration(x)}`, yText: (y) => percent(y, y > 0.99 && y < 1 ? 2 : 0),
    yMax: 1,
  };
}

export function Distributions({ report, visible }: PicturesProps) {
  const jct = useLoaded(
    () => distributionData(report.jct,
      'Share of jobs by JCT, one line per policy. The comparison table has the averages.',
      'finished within'),
    [report],
  );
  const wait = useLoaded(
    () => distributionData(report.wait,
      'Share of jobs by wait time, one line per policy. The comparison table has the averages.',
      'waited at most'),
    [report],
  );
  return (
    <Section id="times" title="JCT and wait time"
      howToRead={
        'A line shows the share of jobs (vertical) whose JCT or wait time is at most the given time ' +
        '(horizontal, logarithmic). Higher and further left is better.'
      }>
      <div class="pair">
        <Panel title="JCT: from submit to finish">
          <Chart data={jct} report={report} visible={visible} />
        </Panel>
        <Panel title="Wait time: time without GPUs">
          <Chart data={wait} report={report} visible={visible} />
        </Panel>
      </div>
    </Section>
  );
}
