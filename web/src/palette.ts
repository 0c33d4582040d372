// The line style of each policy: a colour of the Okabe-Ito palette (the style sheet adapts its lightness
// to the background) and a dash pattern, so that lines can be distinguished without colour.

const COLORS = 7;
const DASHES: readonly (readonly number[])[] = [[], [9, 4], [2, 3], [12, 3, 2, 3], [5, 2]];

export function lineColor(run: number): `--line-${number}` {
  return `--line-${run % COLORS}`;
}

/** Lengths of dashes and gaps in CSS pixels; empty: a solid line. */
export function lineDash(run: number): readonly number[] {
  return DASHES[(run + Math.floor(run / COLORS)) % DASHES.length]!;
}

/** RGBA of 0 to 100 percent, interpolated between `stops` (hex colours). */
export function heatScale(stops: string[]): Uint8ClampedArray {
  const parsed = stops.map(parseHex);
  const scale = new Uint8ClampedArray(101 * 4);
  for (let percent = 0; percent <= 100; percent++) {
    const place = (percent / 100) * (parsed.length - 1);
    const below = Math.min(Math.floor(place), parsed.length - 2);
    const part = place - below;
    for (let channel = 0; channel < 3; channel++) {
      const from = parsed[below]![channel]!;
      const to = parsed[below + 1]![channel]!;
      scale[percent * 4 + channel] = from + (to - from) * part;
    }
    scale[percent * 4 + 3] = 255;
  }
  return scale;
}

function parseHex(color: string): [number, number, number] {
  const value = Number.parseInt(color.replace('#', ''), 16);
  return [(value >> 16) & 255, (value >> 8) & 255, value & 255];
}
