// One policy's share over time as a low filled strip. Strips with the same key share their cursor.
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { lineColor } from '../palette';
import { color, onThemeChange } from '../theme';
import { timeAxis } from './LineChart';

export interface StripProps {
  label: string;
  run: number;
  x: number[];
  /** In [0, 1]; null where the run has ended. */
  values: (number | null)[];
  /** Whether the marks of the time axis stand below. */
  axis: boolean;
  syncKey: string;
  /** Called with the index under the cursor. */
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
      {
        stroke: () => color('--muted'),
        grid: { stroke: () => color('--grid'), width: 1 },
        ticks: { show: false },
        font: '11px system-ui, sans-serif',
        size: 52,
        splits: [0, 0.5, 1],
        values: () => ['0 %', '', '100 %'],
      },
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
  useEffect(() => {
    const element = host.current;
    if (!element) return undefined;
    const built = options(props, element.clientWidth);
    built.hooks = { setCursor: [(u) => props.onCursor(u.cursor.idx ?? null)] };
    const plot = new uPlot(built, [props.x, props.values], element);
    element.dataset['drawn'] = 'true';
    const resize = new ResizeObserver(() => {
      const width = element.clientWidth;
      if (width > 0 && width !== plot.width) plot.setSize({ width, height: plot.height });
    });
    resize.observe(element);
    const forget = onThemeChange(() => plot.redraw(false, true));
    const onKeyDown = (event: KeyboardEvent) => {
      const step = { ArrowLeft: -1, ArrowRight: 1, PageUp: -20, PageDown: 20 }[event.key];
      if (step === undefined) return;
      event.preventDefault();
      const from = plot.cursor.idx ?? Math.floor(props.x.length / 2);
      const to = Math.max(0, Math.min(props.x.length - 1, from + step));
      plot.setCursor({ left: plot.valToPos(props.x[to]!, 'x'), top: plot.over.clientHeight / 2 });
    };
    element.addEventListener('keydown', onKeyDown);
    return () => {
      element.removeEventListener('keydown', onKeyDown);
      forget();
      resize.disconnect();
      plot.destroy();
    };
  }, [props.x, props.axis]);
  return <div class="strip" ref={host} role="img" tabIndex={0} aria-label={props.label} />;
}
