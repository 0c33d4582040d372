// A matrix of names by names: a coloured cell per pair, with an optional mark.
import { useRef, useState } from 'preact/hooks';
import { useWidth } from './useWidth';

export interface MatrixCell {
  /** -1 (loss) over 0 (neutral) to 1 (gain). */
  tone: number;
  kind: 'measured' | 'never' | 'unknown';
  /** Radius of the mark, in cells; 0: no mark. */
  mark: number;
}

interface MatrixProps {
  /** Description for screen readers. */
  label: string;
  names: string[];
  cell: (row: number, column: number) => MatrixCell;
  cellText: (row: number, column: number) => string;
}

const CHAR = 6.7;
const STEPS = 12;

/** A fill for a tone as CSS, valid in both themes. */
export function toneFill(tone: number): string {
  const share = Math.round((Math.abs(tone) * STEPS)) / STEPS;
  const end = tone < 0 ? '--tone-loss' : '--tone-gain';
  return `color-mix(in oklab, var(${end}) ${Math.round(100 * share)}%, var(--tone-even))`;
}

/** Fill patterns of cells without a value; needed once per page. */
export function MatrixPatterns() {
  return (
    <svg width="0" height="0" style={{ position: 'absolute' }} aria-hidden="true">
      <defs>
        <pattern id="matrix-never" width="5" height="5" patternUnits="userSpaceOnUse"
          patternTransform="rotate(45)">
          <rect width="5" height="5" fill="var(--surface)" />
          <rect width="1.6" height="5" fill="var(--muted)" />
        </pattern>
        <pattern id="matrix-unknown" width="4" height="4" patternUnits="userSpaceOnUse">
          <rect width="4" height="4" fill="var(--surface)" />
          <rect x="1.5" y="1.5" width="1" height="1" fill="var(--muted)" />
        </pattern>
      </defs>
    </svg>
  );
}

export function cellFill(kind: MatrixCell['kind'], tone: number): string {
  return kind === 'measured' ? toneFill(tone) : `url(#matrix-${kind})`;
}

function Cells({ props, size, left, top }: {
  props: MatrixProps; size: number; left: number; top: number;
}) {
  const cells = [];
  for (let row = 0; row < props.names.length; row++) {
    for (let column = 0; column < props.names.length; column++) {
      const cell = props.cell(row, column);
      const x = left + column * size;
      const y = top + row * size;
      cells.push(
        <rect key={`${row}-${column}`} class={`cell ${cell.kind}`} x={x + 0.5} y={y + 0.5}
          width={size - 1} height={size - 1} style={{ fill: cellFill(cell.kind, cell.tone) }} />,
      );
      if (cell.mark > 0) {
        cells.push(
          <circle key={`${row}-${column}-mark`} class="met" cx={x + size / 2} cy={y + size / 2}
            r={cell.mark * size} />,
        );
      }
    }
  }
  return <>{cells}</>;
}

export function Matrix(props: MatrixProps) {
  const host = useRef<HTMLDivElement>(null);
  const room = useWidth(host);
  const [at, setAt] = useState<{ row: number; column: number } | null>(null);
  const count = props.names.length;
  const longest = Math.max(1, ...props.names.map((name) => name.length));
  const left = Math.ceil(longest * CHAR) + 8;
  const top = left;
  const size = Math.max(13, Math.min(26, Math.floor((room - left - 2) / count)));
  const side = size * count;

  const point = (event: PointerEvent) => {
    const column = Math.floor((event.offsetX - left) / size);
    const row = Math.floor((event.offsetY - top) / size);
    const inside = row >= 0 && row < count && column >= 0 && column < count;
    setAt(inside ? { row, column } : null);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const moves: Record<string, [number, number]> = {
      ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0],
    };
    const move = moves[event.key];
    if (!move) return;
    event.preventDefault();
    const from = at ?? { row: 0, column: -move[1] };
    const clip = (value: number) => Math.max(0, Math.min(count - 1, value));
    const column = clip(from.column + move[1]);
    setAt({ row: clip(from.row + (at ? move[0] : 0)), column });
    const x = left + column * size;
    if (host.current && (x < host.current.scrollLeft || x + size > host.current.scrollLeft + room)) {
      host.current.scrollLeft = x - room / 2;
    }
  };
  return (
    <>
      <div class="scroll matrix-place" ref={host} role="img" tabIndex={0} aria-label={props.label}
        onKeyDown={onKeyDown}>
        {room > 0 && (
          <svg class="matrix" width={left + side + 1} height={top + side + 1}
            viewBox={`0 0 ${left + side + 1} ${top + side + 1}`} aria-hidden="true"
            onPointerMove={point} onPointerLeave={() => setAt(null)}>
            {props.names.map((name, i) => (
              <g key={name}>
                <text class={at?.row === i ? 'name on' : 'name'} x={left - 6}
                  y={top + (i + 0.5) * size + 4} text-anchor="end">{name}</text>
                <text class={at?.column === i ? 'name on' : 'name'}
                  transform={`translate(${left + (i + 0.5) * size + 4} ${top - 6}) rotate(-90)`}>
                  {name}
                </text>
              </g>
            ))}
            <Cells props={props} size={size} left={left} top={top} />
            {at && (
              <rect class="chosen-cell" x={left + at.column * size} y={top + at.row * size} width={size}
                height={size} />
            )}
          </svg>
        )}
      </div>
      <p class="reading" aria-live="polite">
        {at ? (
          props.cellText(at.row, at.column)
        ) : (
          <span class="hint">Point at a cell, or focus the matrix and use the arrow keys.</span>
        )}
      </p>
    </>
  );
}
