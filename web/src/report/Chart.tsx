// A line chart of all policies, or a placeholder while its data loads.
import { LineChart, type LineChartProps } from '../charts/LineChart';
import type { ReportDocument } from '../data/document';

/** Properties of every section with charts. */
export interface PicturesProps {
  report: ReportDocument;
  /** Whether each policy is shown. */
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
