// A line chart with one line per policy over time or over a logarithmic scale of durations.
import { useEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import { lineColor, lineDash } from '../palette';
import { color } from '../theme';
import { logDurationAxis, mountPlot, moveCursor, timeAxis, valueAxis } from './plot';

export interface Line {
  label: string;
  /** Index of the policy; selects colour and dash pattern. */
  run: number;
  /** As long as x; null after the end of the line. */
  values: (number | null)[];
  visible: boolean;
}

export interface LineChartProps {
  /** Description for screen readers. */
  label: string;
  x: number[];
  lines: Line[];
  xKind: 'time' | 'log-duration';
  xText: (x: number) => string;
  yText: (y: number) => string;
  /** Text of a tick on the time axis; default: the time since 0. */
  xAxisText?: (x: number) => string;
  /** Text on the axis, if different from `yText`. */
  yAxisText?: (y: number) => string;
  /** Upper end of the y axis; default: from the data. */
  yMax?: number;
  /** Lower end of the y axis; default: 0. */
  yMin?: number;
  /** Charts with the same key share a cursor. */
  syncKey?: string;
  height?: number;
}

function options(props: LineChartProps, width: number): uPlot.Options {
  const log = props.xKind === 'log-duration';
  return {
    width,
    height: props.height ?? 260,
    padding: [12, 14, 0, 0],
    legend: { show: false },
    cursor: {
      points: { size: 7 },
      drag: { x: true, y: false },
      ...(props.syncKey ? { sync: { key: props.syncKey } } : {}),
    },
    scales: {
      x: log
        ? {
            time: false,
            distr: 3,
            range: (_u, min, max) => (max > min * 1.01 ? [min, max] : [min / 2, max * 2]),
          }
        : { time: false },
      y: {
        range: (_u, _min, max) => [props.yMin ?? 0, props.yMax ?? Math.max(1, (max || 0) * 1.05)],
      },
    },
    axes: [
      log ? logDurationAxis() : timeAxis(props.xAxisText),
      valueAxis({
        font: '12px system-ui, sans-serif',
        size: (_u, texts) => Math.max(52, ...(texts ?? []).map((text) => 12 + 6.8 * text.length)),
        values: (_u, splits) => splits.map(props.yAxisText ?? props.yText),
      }),
    ],
    series: [
      {},
      ...props.lines.map((line): uPlot.Series => ({
        label: line.label,
        show: line.visible,
        stroke: () => color(lineColor(line.run)),
        width: 2,
        dash: [...lineDash(line.run)],
        points: { show: false },
        paths: uPlot.paths.stepped!({ align: 1 }),
      })),
    ],
  };
}

/** The x and y values at the cursor. */
function Reading(props: LineChartProps & { at: number | null }) {
  const shown = props.at === null ? [] : props.lines.filter((line) => line.visible);
  return (
    <p class="reading" aria-live="polite">
      {props.at === null ? (
        <span class="hint">Point at the chart, or focus it and use the arrow keys.</span>
      ) : (
        <strong>{props.xText(props.x[props.at] ?? 0)}</strong>
      )}
      {shown.map((line) => {
        const value = line.values[props.at ?? 0];
        return (
          <span key={line.run} class="reading-item">
            <i class="dot" style={{ background: `var(${lineColor(line.run)})` }} />
            {line.label} <b>{value === null || value === undefined ? 'ended' : props.yText(value)}</b>
          </span>
        );
      })}
    </p>
  );
}

export function LineChart(props: LineChartProps) {
  const host = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot | null>(null);
  const [at, setAt] = useState<number | null>(null);

  useEffect(() => {
    const element = host.current;
    if (!element) return undefined;
    const hooks: uPlot.Hooks.Arrays = {
      setCursor: [(u) => setAt(u.cursor.idx ?? null)],
      draw: [() => (element.dataset['drawn'] = 'true')],
    };
    const { plot, remove } = mountPlot(element, (width) => ({ ...options(props, width), hooks }),
      [props.x, ...props.lines.map((line) => line.values)]);
    chart.current = plot;
    return () => {
      remove();
      chart.current = null;
    };
  }, [props.x]);

  const visible = props.lines.map((line) => line.visible).join();
  useEffect(() => {
    const plot = chart.current;
    if (!plot) return;
    props.lines.forEach((line, i) => {
      if (plot.series[i + 1]!.show !== line.visible) plot.setSeries(i + 1, { show: line.visible });
    });
  }, [visible]);

  return (
    <>
      <div class="chart" ref={host} role="img" tabIndex={0} aria-label={props.label}
        onKeyDown={(event) => chart.current && moveCursor(chart.current, event)} />
      <Reading {...props} at={at} />
    </>
  );
}
