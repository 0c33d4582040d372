// Lines of all policies over one x: time, or a logarithmic scale of durations.
import { useEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import { axisTime } from '../format';
import { lineColor, lineDash } from '../palette';
import { color, onThemeChange } from '../theme';
import { logTimeMarks, timeMarks } from './axis';

export interface Line {
  label: string;
  /** Number of the policy, for its colour and dash. */
  run: number;
  /** As long as x; null where the line has ended. */
  values: (number | null)[];
  visible: boolean;
}

export interface LineChartProps {
  /** What it shows, for those who cannot see it. */
  label: string;
  x: number[];
  lines: Line[];
  xKind: 'time' | 'log-duration';
  xText: (x: number) => string;
  yText: (y: number) => string;
  /** On the axis, if it is another. */
  yAxisText?: (y: number) => string;
  /** Upper end of the y axis; told by the data if left out. */
  yMax?: number;
  /** Charts with the same key move their cursors together. */
  syncKey?: string;
  height?: number;
}

const MARK_WIDTH = 78;

function marksOn(u: uPlot): number {
  return Math.max(2, Math.floor(u.bbox.width / devicePixelRatio / MARK_WIDTH));
}

function anyAxis(): uPlot.Axis {
  return {
    stroke: () => color('--muted'),
    grid: { stroke: () => color('--grid'), width: 1 },
    ticks: { stroke: () => color('--grid'), width: 1, size: 5 },
    font: '12px system-ui, sans-serif',
    size: 30,
  };
}

/** Seconds since the first submit. */
export function timeAxis(): uPlot.Axis {
  return {
    ...anyAxis(),
    splits: (u, _axis, min, max) => timeMarks(min, max, marksOn(u)).at,
    values: (u, splits) => {
      const { step } = timeMarks(u.scales['x']!.min!, u.scales['x']!.max!, marksOn(u));
      return splits.map((at) => axisTime(at, step));
    },
  };
}

function logDurationAxis(): uPlot.Axis {
  return {
    ...anyAxis(),
    splits: (u, _axis, min, max) => logTimeMarks(min, max, (max / min) ** (1 / marksOn(u))),
    filter: (_u, splits) => splits,
    values: (_u, splits) => splits.map((at) => axisTime(at, at >= 86400 ? 86400 : 1)),
  };
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
        range: (_u, _min, max) => [0, props.yMax ?? Math.max(1, (max || 0) * 1.05)],
      },
    },
    axes: [
      log ? logDurationAxis() : timeAxis(),
      {
        stroke: () => color('--muted'),
        grid: { stroke: () => color('--grid'), width: 1 },
        ticks: { show: false },
        font: '12px system-ui, sans-serif',
        size: (_u, texts) => Math.max(52, ...(texts ?? []).map((text) => 12 + 6.8 * text.length)),
        values: (_u, splits) => splits.map(props.yAxisText ?? props.yText),
      },
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

/** Where the cursor is and what the lines are there. */
function Reading(props: LineChartProps & { at: number | null }) {
  const shown = props.at === null ? [] : props.lines.filter((line) => line.visible);
  return (
    <p class="reading" aria-live="polite">
      {props.at === null ? (
        <span class="hint">Point at the picture, or focus it and use the arrow keys.</span>
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
    const built = options(props, element.clientWidth);
    built.hooks = {
      setCursor: [(u) => setAt(u.cursor.idx ?? null)],
      draw: [() => (element.dataset['drawn'] = 'true')],
    };
    const plot = new uPlot(built, [props.x, ...props.lines.map((line) => line.values)], element);
    chart.current = plot;
    const resize = new ResizeObserver(() => {
      const width = element.clientWidth;
      if (width > 0 && width !== plot.width) plot.setSize({ width, height: plot.height });
    });
    resize.observe(element);
    const forget = onThemeChange(() => plot.redraw(false, true));
    return () => {
      forget();
      resize.disconnect();
      plot.destroy();
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

  const onKeyDown = (event: KeyboardEvent) => {
    const plot = chart.current;
    const step = { ArrowLeft: -1, ArrowRight: 1, PageUp: -20, PageDown: 20 }[event.key];
    if (!plot || (step === undefined && event.key !== 'Home' && event.key !== 'End')) return;
    event.preventDefault();
    const last = props.x.length - 1;
    const from = plot.cursor.idx ?? Math.floor(last / 2);
    const to = event.key === 'Home' ? 0 : event.key === 'End' ? last : from + (step ?? 0);
    const index = Math.max(0, Math.min(last, to));
    plot.setCursor({ left: plot.valToPos(props.x[index]!, 'x'), top: plot.over.clientHeight / 2 });
  };

  return (
    <>
      <div class="chart" ref={host} role="img" tabIndex={0} aria-label={props.label}
        onKeyDown={onKeyDown} />
      <Reading {...props} at={at} />
    </>
  );
}
