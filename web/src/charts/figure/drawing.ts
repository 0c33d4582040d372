// A figure as shapes and as what can be read at which place. The page shows it, and a file keeps it;
// colours are names of the style sheet until then.

/** Colours by name, such as "--muted"; `none` is none. */
export type Paint = `--${string}` | 'none';

export interface Shape {
  tag: 'path' | 'rect' | 'circle' | 'text';
  fill: Paint;
  stroke?: Paint;
  /** Numbers and texts of SVG: x, y, d, text-anchor, ... */
  attributes: Record<string, string | number>;
  text?: string;
  /** Of 12 colours between two ends, for heat maps: [0, 1] instead of `fill`. */
  heat?: number;
}

export interface SpotItem {
  series: number;
  label: string;
  value: string;
}

/** A place with something to read. */
export interface Spot {
  x: number;
  y: number;
  title: string;
  items: SpotItem[];
  /** What is outlined while it is read; a line through the plot if left out. */
  box?: Room;
}

export interface Room {
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface Drawing {
  width: number;
  height: number;
  plot: Room;
  shapes: Shape[];
  spots: Spot[];
  /** The spot that is meant: nearest along an axis, or nearest in the plane. */
  near: 'x' | 'y' | 'both';
  /** Spots in a line of arrow keys up and down; 1 for all but heat maps. */
  columns: number;
}

/** Index of the spot that a pointer means. */
export function nearestSpot(drawing: Drawing, x: number, y: number): number | null {
  let best: number | null = null;
  let least = Infinity;
  drawing.spots.forEach((spot, i) => {
    const dx = drawing.near === 'y' ? 0 : spot.x - x;
    const dy = drawing.near === 'x' ? 0 : spot.y - y;
    const distance = dx * dx + dy * dy;
    if (distance < least) [best, least] = [i, distance];
  });
  return best;
}

/** The spot that a key leads to; null for keys that do not move. */
export function movedSpot(drawing: Drawing, from: number | null, key: string): number | null {
  const last = drawing.spots.length - 1;
  if (last < 0) return null;
  const down = drawing.columns;
  const steps: Record<string, number> = {
    ArrowLeft: -1, ArrowRight: 1, ArrowUp: -down, ArrowDown: down, PageUp: -20, PageDown: 20,
    Home: -Infinity, End: Infinity,
  };
  const step = steps[key];
  if (step === undefined) return null;
  if (from === null) return step === Infinity ? last : 0;
  const to = from + step;
  if (drawing.columns > 1 && Math.abs(step) === down && (to < 0 || to > last)) return from;
  return Math.max(0, Math.min(last, to));
}

/** A path through points, with gaps where there is none. */
export function pathOf(points: ({ x: number; y: number } | null)[], stepped: boolean): string {
  let path = '';
  let pen = false;
  const short = (value: number) => String(Math.round(value * 100) / 100);
  for (const point of points) {
    if (!point) {
      pen = false;
      continue;
    }
    const [x, y] = [short(point.x), short(point.y)];
    path += !pen ? `M${x} ${y}` : stepped ? `H${x}V${y}` : `L${x} ${y}`;
    pen = true;
  }
  return path;
}
