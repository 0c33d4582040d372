// A heat map of GPUs or nodes over time, coloured by the share of time held.
import { useEffect, useRef, useState } from 'preact/hooks';
import { axisTime } from '../format';
import { heatScale } from '../palette';
import { color, onThemeChange } from '../theme';
import { timeMarks } from './axis';
import { useWidth } from './useWidth';

interface HeatMapProps {
  label: string;
  rowLabels: string[];
  columns: number;
  /** Columns of the longest run, so that all runs share one time axis. */
  columnsMax: number;
  stepS: number;
  /** 0 to 100, in row-major order. */
  percent: Uint32Array;
  cellText: (row: number, column: number) => string;
}

const LEFT = 12;
const BOTTOM = 28;
export const HEAT_STOPS = ['--heat-0', '--heat-1', '--heat-2', '--heat-3', '--heat-4'];

/** The cells as an image, one pixel per cell. */
function picture(props: HeatMapProps, scale: Uint8ClampedArray): HTMLCanvasElement {
  const rows = props.rowLabels.length;
  const canvas = document.createElement('canvas');
  canvas.width = Math.max(1, props.columns);
  canvas.height = rows;
  const image = new ImageData(canvas.width, rows);
  for (let i = 0; i < props.percent.length; i++) {
    const at = props.percent[i]! * 4;
    image.data.set(scale.subarray(at, at + 4), i * 4);
  }
  canvas.getContext('2d')!.putImageData(image, 0, 0);
  return canvas;
}

function draw(canvas: HTMLCanvasElement, props: HeatMapProps, width: number, height: number): void {
  const ratio = devicePixelRatio;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round((height + BOTTOM) * ratio);
  const context = canvas.getContext('2d')!;
  context.scale(ratio, ratio);
  context.clearRect(0, 0, width, height + BOTTOM);
  const plotWidth = width - 2 * LEFT;
  const cells = picture(props, heatScale(HEAT_STOPS.map(color)));
  const shown = (plotWidth * props.columns) / props.columnsMax;
  context.imageSmoothingEnabled = cells.width > shown * ratio || cells.height > height * ratio;
  context.imageSmoothingQuality = 'high';
  context.drawImage(cells, LEFT, 0, shown, height);
  context.font = '12px system-ui, sans-serif';
  context.textAlign = 'center';
  context.fillStyle = color('--muted');
  context.strokeStyle = color('--grid');
  const span = props.columnsMax * props.stepS;
  const marks = timeMarks(0, span, Math.max(2, Math.floor(plotWidth / 78)));
  for (const at of marks.at) {
    const x = LEFT + (plotWidth * at) / span;
    context.beginPath();
    context.moveTo(x, height);
    context.lineTo(x, height + 5);
    context.stroke();
    context.fillText(axisTime(at, marks.step), x, height + 19);
  }
  canvas.dataset['drawn'] = 'true';
}

export function HeatMap(props: HeatMapProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const host = useRef<HTMLDivElement>(null);
  const width = useWidth(host);
  const [cell, setCell] = useState<{ row: number; column: number } | null>(null);
  const rows = props.rowLabels.length;
  const height = Math.max(96, Math.min(420, rows * 14));

  useEffect(() => {
    const redraw = () => {
      if (canvas.current && width > 0) draw(canvas.current, props, width, height);
    };
    redraw();
    return onThemeChange(redraw); // at once, because printing does not wait
  }, [width, props.percent]);

  const point = (event: PointerEvent) => {
    const column = Math.floor(((event.offsetX - LEFT) / (width - 2 * LEFT)) * props.columnsMax);
    const row = Math.floor((event.offsetY / height) * rows);
    const inside = column >= 0 && column < props.columns && row >= 0 && row < rows;
    setCell(inside ? { row, column } : null);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const moves: Record<string, [number, number]> = {
      ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0],
      PageUp: [0, -20], PageDown: [0, 20],
    };
    const move = moves[event.key];
    if (!move) return;
    event.preventDefault();
    const from = cell ?? { row: 0, column: 0 };
    setCell({
      row: Math.max(0, Math.min(rows - 1, from.row + move[0])),
      column: Math.max(0, Math.min(props.columns - 1, from.column + move[1])),
    });
  };
  const plotWidth = width - 2 * LEFT;
  const mark = cell && {
    left: `${LEFT + (plotWidth * cell.column) / props.columnsMax}px`,
    top: `${(height * cell.row) / rows}px`,
    width: `${Math.max(3, plotWidth / props.columnsMax)}px`,
    height: `${Math.max(3, height / rows)}px`,
  };
  return (
    <>
      <div class="heat" ref={host} role="img" tabIndex={0} aria-label={props.label} onKeyDown={onKeyDown}>
        <canvas ref={canvas} style={{ width: `${width}px`, height: `${height + BOTTOM}px` }}
          onPointerMove={point} onPointerLeave={() => setCell(null)} />
        {mark && <div class="heat-mark" style={mark} />}
      </div>
      <p class="reading" aria-live="polite">
        {cell ? (
          props.cellText(cell.row, cell.column)
        ) : (
          <span class="hint">Point at a cell, or focus the map and use the arrow keys.</span>
        )}
      </p>
    </>
  );
}
