// A line chart of all policies, once its data are there.
import { LineChart, type LineChartProps } from '../charts/LineChart';
import type { ReportDocument } from '../data/document';

/** What every section with pictures needs. */
export interface PicturesProps {
  report: ReportDocument;
  /** By policy: whether it is shown. */
  visible: boolean[];
}

export type ChartData = Omit<LineChartProps, 'lines'> & { values: (number | null)[][] };

export function Chart({ data, report, visible }: PicturesProps & { data: ChartData | undefined }) {
  if (!data) return <div class="chart-place" />;
  const { values, ...rest } = data;
  const lines = report.runs.map((run, index) => ({
    label: run.policy, run: index, values: values[index] ?? [], visible: visible[index] ?? true,
  }));
  return <LineChart {...rest} lines={lines} />;
}
