// A drawing on the page. Pointer, touch and arrow keys read its values.
import { useState } from 'preact/hooks';
import { lineColor } from '../../palette';
import { type Drawing, movedSpot, nearestSpot, type Shape, type Spot } from './drawing';

const STOPS = 4;

/** A colour of the heat scale as CSS, valid in both themes. */
function heatColor(share: number): string {
  const place = Math.max(0, Math.min(1, share)) * STOPS;
  const below = Math.min(Math.floor(place), STOPS - 1);
  const part = Math.round(100 * (place - below));
  return `color-mix(in srgb, var(--heat-${below + 1}) ${part}%, var(--heat-${below}))`;
}

function Piece({ shape }: { shape: Shape }) {
  const of = (paint: string) => (paint === 'none' ? 'none' : `var(${paint})`);
  const fill = shape.heat !== undefined ? heatColor(shape.heat) : of(shape.fill);
  const paints = { fill, ...(shape.stroke ? { stroke: of(shape.stroke) } : {}) };
  const Tag = shape.tag;
  return <Tag {...paints} {...shape.attributes}>{shape.text}</Tag>;
}

function Outline({ drawing, spot }: { drawing: Drawing; spot: Spot }) {
  if (spot.box) return <rect class="spot" {...spot.box} />;
  if (drawing.near === 'both') return <circle class="spot" cx={spot.x} cy={spot.y} r={7} />;
  const { y, height } = drawing.plot;
  return <path class="spot" d={`M${spot.x} ${y}V${y + height}`} />;
}

interface FigureChartProps {
  drawing: Drawing;
  /** Description for screen readers. */
  label: string;
  hint: string;
}

export function FigureChart({ drawing, label, hint }: FigureChartProps) {
  const [at, setAt] = useState<number | null>(null);
  const spot = at === null ? undefined : drawing.spots[at];
  const point = (event: PointerEvent) => {
    const frame = (event.currentTarget as SVGElement).getBoundingClientRect();
    setAt(nearestSpot(drawing, event.clientX - frame.left, event.clientY - frame.top));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const to = event.key === 'Escape' ? null : movedSpot(drawing, at, event.key);
    if (to === null && event.key !== 'Escape') return;
    event.preventDefault();
    setAt(to);
  };
  return (
    <>
      <svg class="drawing" width={drawing.width} height={drawing.height} role="img" tabindex={0}
        viewBox={`0 0 ${drawing.width} ${drawing.height}`} aria-label={label} onKeyDown={onKeyDown}
        onPointerMove={point} onPointerDown={point}
        onPointerLeave={(event) => event.pointerType === 'mouse' && setAt(null)}>
        {drawing.shapes.map((shape, i) => <Piece key={i} shape={shape} />)}
        {spot && <Outline drawing={drawing} spot={spot} />}
      </svg>
      <p class="reading" aria-live="polite">
        {!spot && <span class="hint">{hint}</span>}
        {spot && <strong>{spot.title}</strong>}
        {spot?.items.map((item) => (
          <span key={item.series} class="reading-item">
            {item.series >= 0 && <i class="dot" style={{ background: `var(${lineColor(item.series)})` }} />}
            {item.label} <b>{item.value}</b>
          </span>
        ))}
      </p>
    </>
  );
}
