// Layout of points, ticks and labels in a scatter plot.

/** About `count` round numbers in [min, max]. */
export function roundMarks(min: number, max: number, count: number): number[] {
  if (!(max > min) || count < 1) return [min];
  const raw = (max - min) / count;
  const magnitude = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map((m) => m * magnitude).find((each) => each >= raw * 0.999)!;
  const marks: number[] = [];
  for (let i = Math.ceil(min / step - 1e-9); i * step <= max * (1 + 1e-12); i++) marks.push(i * step + 0);
  return marks;
}

/** The range of an axis with padding. It does not start at 0 unless the values do. */
export function paddedRange(values: number[]): [number, number] {
  const least = Math.min(...values);
  const most = Math.max(...values);
  if (values.length === 0) return [0, 1];
  // Differences of less than 2 % should look small.
  const span = Math.max(most - least, 0.02 * Math.abs(most), 1e-9);
  const middle = (least + most) / 2;
  const low = middle - span / 2 - 0.18 * span;
  const high = middle + span / 2 + 0.18 * span;
  return [least >= 0 ? Math.max(0, low) : low, high];
}

export interface Spot {
  x: number;
  y: number;
  /** Indices of the points at this spot. */
  points: number[];
}

/** Groups points closer than `near` into one spot, because their labels would overlap. */
export function spotsOf(points: { x: number; y: number }[], near: number): Spot[] {
  const spots: Spot[] = [];
  points.forEach((point, index) => {
    const spot = spots.find((each) => Math.hypot(each.x - point.x, each.y - point.y) <= near);
    if (spot) spot.points.push(index);
    else spots.push({ x: point.x, y: point.y, points: [index] });
  });
  return spots;
}

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

function overlap(a: Box, b: Box): number {
  const width = Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x);
  const height = Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y);
  return width > 0 && height > 0 ? width * height : 0;
}

function outside(box: Box, room: Box): number {
  return Math.max(0, box.width * box.height - overlap(box, room) - 1e-6);
}

/** Places each label next to its spot, where it overlaps least. */
export function placeLabels(
  spots: { x: number; y: number; radius: number }[], sizes: { width: number; height: number }[],
  room: Box,
): Box[] {
  const marks = spots.map(({ x, y, radius }) => ({
    x: x - radius, y: y - radius, width: 2 * radius, height: 2 * radius,
  }));
  const placed: Box[] = [];
  spots.forEach((spot, i) => {
    const { width, height } = sizes[i]!;
    const gap = spot.radius + 5;
    const candidates: Box[] = [
      [spot.x + gap, spot.y - height / 2], [spot.x - gap - width, spot.y - height / 2],
      [spot.x - width / 2, spot.y - gap - height], [spot.x - width / 2, spot.y + gap],
      [spot.x + gap, spot.y - gap - height], [spot.x + gap, spot.y + gap],
      [spot.x - gap - width, spot.y - gap - height], [spot.x - gap - width, spot.y + gap],
    ].map(([x, y]) => ({ x: x!, y: y!, width, height }));
    const cost = (box: Box) =>
      4 * outside(box, room) + [...placed, ...marks].reduce((sum, other) => sum + overlap(box, other), 0);
    placed.push(candidates.reduce((best, each) => (cost(each) < cost(best) ? each : best)));
  });
  return placed;
}
