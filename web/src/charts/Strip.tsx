// One policy's share over time as a low filled chart. Strips with the same sync key share a cursor.
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { lineColor } from '../palette';
import { color } from '../theme';
import { mountPlot, moveCursor, timeAxis, valueAxis } from './plot';

interface StripProps {
  label: string;
  run: number;
  x: number[];
  /** In [0, 1]; null where the run has ended. */
  values: (number | null)[];
  /** Whether the time axis has labels. */
  axis: boolean;
  syncKey: string;
  /** Called with the index at the cursor. */
  onCursor: (at: number | null) => void;
}

const HEIGHT = 66;
const AXIS = 30;

function options(props: StripProps, width: number): uPlot.Options {
  return {
    width,
    height: HEIGHT + (props.axis ? AXIS : 0),
    padding: [8, 14, props.axis ? 0 : 4, 0],
    legend: { show: false },
    cursor: { points: { show: false }, drag: { x: true, y: false }, sync: { key: props.syncKey } },
    scales: { x: { time: false }, y: { range: [0, 1] } },
    axes: [
      { ...timeAxis(), size: props.axis ? AXIS : 0, ...(props.axis ? {} : { values: () => [] }) },
      valueAxis({
        font: '11px system-ui, sans-serif',
        size: 52,
        splits: [0, 0.5, 1],
        values: () => ['0 %', '', '100 %'],
      }),
    ],
    series: [
      {},
      {
        stroke: () => color(lineColor(props.run)),
        fill: () => `${color(lineColor(props.run))}55`,
        width: 1.25,
        points: { show: false },
        paths: uPlot.paths.stepped!({ align: 1 }),
      },
    ],
  };
}

export function Strip(props: StripProps) {
  const host = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot | null>(null);
  useEffect(() => {
    const element = host.current;
    if (!element) return undefined;
    const hooks: uPlot.Hooks.Arrays = { setCursor: [(u) => props.onCursor(u.cursor.idx ?? null)] };
    const { plot, remove } = mountPlot(element, (width) => ({ ...options(props, width), hooks }), [props.x, props.values]);
    chart.current = plot;
    element.dataset['drawn'] = 'true';
    return () => {
      remove();
      chart.current = null;
    };
  }, [props.x, props.axis]);
  return (
    <div class="strip" ref={host} role="img" tabIndex={0} aria-label={props.label}
      onKeyDown={(event) => chart.current && moveCursor(chart.current, event)} />
  );
}
