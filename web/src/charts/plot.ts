// The parts that uPlot charts share: axes, resizing and theming, and a cursor moved with the keyboard.
import uPlot from 'uplot';
import { axisTime } from '../format';
import { color, onThemeChange } from '../theme';
import { logTimeMarks, timeMarks } from './axis';

const MARK_WIDTH = 78;

function marksOn(u: uPlot): number {
  return Math.max(2, Math.floor(u.bbox.width / devicePixelRatio / MARK_WIDTH));
}

function xAxis(): uPlot.Axis {
  return {
    stroke: () => color('--muted'),
    grid: { stroke: () => color('--grid'), width: 1 },
    ticks: { stroke: () => color('--grid'), width: 1, size: 5 },
    font: '12px system-ui, sans-serif',
    size: 30,
  };
}

/** A time axis in seconds since the first submit, unless `text` says otherwise. */
export function timeAxis(text?: (at: number) => string): uPlot.Axis {
  return {
    ...xAxis(),
    splits: (u, _axis, min, max) => timeMarks(min, max, marksOn(u)).at,
    values: (u, splits) => {
      const { step } = timeMarks(u.scales['x']!.min!, u.scales['x']!.max!, marksOn(u));
      return splits.map((at) => (text ? text(at) : axisTime(at, step)));
    },
  };
}

export function logDurationAxis(): uPlot.Axis {
  return {
    ...xAxis(),
    splits: (u, _axis, min, max) => logTimeMarks(min, max, (max / min) ** (1 / marksOn(u))),
    filter: (_u, splits) => splits,
    values: (_u, splits) => splits.map((at) => axisTime(at, at >= 86400 ? 86400 : 1)),
  };
}

export function valueAxis(more: uPlot.Axis): uPlot.Axis {
  return {
    stroke: () => color('--muted'),
    grid: { stroke: () => color('--grid'), width: 1 },
    ticks: { show: false },
    ...more,
  };
}

/** Creates a plot in `element` that follows its width and the theme. `remove` destroys it. */
export function mountPlot(
  element: HTMLElement, options: (width: number) => uPlot.Options, data: uPlot.AlignedData,
): { plot: uPlot; remove: () => void } {
  const plot = new uPlot(options(element.clientWidth), data, element);
  const resize = new ResizeObserver(() => {
    const width = element.clientWidth;
    if (width > 0 && width !== plot.width) plot.setSize({ width, height: plot.height });
  });
  resize.observe(element);
  const forget = onThemeChange(() => plot.redraw(false, true));
  return {
    plot,
    remove: () => {
      forget();
      resize.disconnect();
      plot.destroy();
    },
  };
}

const STEPS: Record<string, number> = {
  ArrowLeft: -1, ArrowRight: 1, PageUp: -20, PageDown: 20, Home: -Infinity, End: Infinity,
};

/** Moves the cursor for arrow, page, Home and End keys; ignores other keys. */
export function moveCursor(plot: uPlot, event: KeyboardEvent): void {
  const step = STEPS[event.key];
  if (step === undefined) return;
  event.preventDefault();
  const x = plot.data[0];
  const from = plot.cursor.idx ?? Math.floor((x.length - 1) / 2);
  const to = Math.max(0, Math.min(x.length - 1, from + step));
  plot.setCursor({ left: plot.valToPos(x[to]!, 'x'), top: plot.over.clientHeight / 2 });
}
