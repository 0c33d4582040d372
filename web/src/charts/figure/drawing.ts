// A figure as shapes and as spots with values to read. The page and the SVG export render it; colours
// are variables of the style sheet.

/** A colour variable, such as "--muted". */
export type Paint = `--${string}` | 'none';

export interface Shape {
  tag: 'path' | 'rect' | 'circle' | 'text';
  fill: Paint;
  stroke?: Paint;
  /** SVG attributes: x, y, d, text-anchor, ... */
  attributes: Record<string, string | number>;
  text?: string;
  /** Position on the heat scale, 0 to 1; replaces `fill` in heat maps. */
  heat?: number;
}

export interface SpotItem {
  series: number;
  label: string;
  value: string;
}

/** A place in the figure at which values can be read. */
export interface Spot {
  x: number;
  y: number;
  title: string;
  items: SpotItem[];
  /** The outline of the selected spot; default: a line through the plot. */
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
  /** Whether the pointer selects the nearest spot along one axis or in the plane. */
  near: 'x' | 'y' | 'both';
  /** Number of spots that the up and down keys skip; 1 for all kinds but heat maps. */
  columns: number;
}

/** Index of the spot at the pointer. */
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

/** The spot that a key selects; null for other keys. */
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

/** An SVG path through points, with gaps at null. */
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
