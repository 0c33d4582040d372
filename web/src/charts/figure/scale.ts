// Scales from values to pixels (linear, logarithmic, by category), with ticks that do not overlap.
import { roundMarks } from '../scatter';

export interface Mark {
  at: number;
  text: string;
}

export interface Scale {
  /** Position of a value in pixels. */
  at: (value: number) => number;
  /** Whether the value has a position: 0 has none on a logarithmic scale. */
  has: (value: number) => boolean;
  marks: Mark[];
}

const CHAR = 6.6;
const WIDE_CHAR = 12.2;

/** Approximate width of a text in a 12-pixel font. CJK characters are wider. */
export function textWidth(text: string): number {
  let width = 0;
  for (const char of text) width += char.codePointAt(0)! >= 0x1100 ? WIDE_CHAR : CHAR;
  return width;
}

/** `text`, truncated if it is wider than `room`. */
export function fitted(text: string, room: number): string {
  if (textWidth(text) <= room) return text;
  let short = '';
  for (const char of text) {
    if (textWidth(`${short}${char}…`) > room) break;
    short += char;
  }
  return `${short}…`;
}

/** Label of a tick: 1234567 -> "1.235 M", 0.5 -> "0.5". */
export function markText(value: number): string {
  const size = Math.abs(value);
  const short = (part: number, suffix: string) =>
    part.toLocaleString('en-US', { maximumSignificantDigits: 4 }) + suffix;
  if (size >= 1e12) return value.toExponential(1);
  if (size >= 1e9) return short(value / 1e9, ' G');
  if (size >= 1e6) return short(value / 1e6, ' M');
  if (size >= 1e4) return short(value / 1e3, ' k');
  if (size > 0 && size < 1e-4) return value.toExponential(0);
  return short(value, '');
}

/** The ticks that do not overlap the previous one. */
function apart(marks: Mark[], at: (value: number) => number, room: (mark: Mark) => number): Mark[] {
  const kept: Mark[] = [];
  for (const mark of marks) {
    const last = kept[kept.length - 1];
    const gap = last ? Math.abs(at(mark.at) - at(last.at)) : Infinity;
    if (gap >= (last ? (room(mark) + room(last)) / 2 : 0)) kept.push(mark);
  }
  return kept;
}

export interface Span {
  /** Pixel positions of the smallest and the largest value. */
  from: number;
  to: number;
  /** Pixels that a tick label takes along the axis. */
  room: (mark: Mark) => number;
}

export function linearScale(min: number, max: number, span: Span): Scale {
  const low = min;
  const high = max > min ? max : min + (Math.abs(min) || 1);
  const at = (value: number) => span.from + ((span.to - span.from) * (value - low)) / (high - low);
  const length = Math.abs(span.to - span.from);
  const marks = roundMarks(low, high, Math.max(2, Math.floor(length / 60)))
    .map((value) => ({ at: value, text: markText(Number(value.toPrecision(12))) }));
  return { at, has: Number.isFinite, marks: apart(marks, at, span.room) };
}

/** `min` and `max` must be above 0. */
export function logScale(min: number, max: number, span: Span): Scale {
  const low = Math.log10(min);
  const high = max > min ? Math.log10(max) : low + 1;
  const at = (value: number) =>
    span.from + ((span.to - span.from) * (Math.log10(value) - low)) / (high - low);
  const has = (value: number) => Number.isFinite(value) && value > 0;
  // Prefer ticks at 1, 2 and 5 times powers of ten; use fewer if they do not fit.
  for (const steps of [[1, 2, 5], [1, 3], [1]]) {
    const marks: Mark[] = [];
    for (let power = Math.floor(low); power <= Math.ceil(high); power++) {
      for (const step of steps) {
        const value = Number((step * 10 ** power).toPrecision(3));
        const place = Math.log10(value);
        if (place >= low - 1e-9 && place <= high + 1e-9) marks.push({ at: value, text: markText(value) });
      }
    }
    const free = apart(marks, at, span.room);
    if ((free.length === marks.length && marks.length >= 2) || steps.length === 1) {
      if (free.length >= 2) return { at, has, marks: free };
    }
  }
  return { at, has, marks: [{ at: min, text: markText(min) }, { at: 10 ** high, text: markText(10 ** high) }] };
}

/** A band per category; value i is the centre of band i. */
export function bandScale(texts: string[], span: Span): Scale & { band: number } {
  const band = (span.to - span.from) / Math.max(1, texts.length);
  const at = (value: number) => span.from + band * (value + 0.5);
  const marks = texts.map((text, i) => ({ at: i, text }));
  const widest = Math.max(1, ...marks.map(span.room));
  const every = Math.max(1, Math.ceil(widest / Math.abs(band)));
  return { at, has: Number.isFinite, marks: marks.filter((mark) => mark.at % every === 0), band: Math.abs(band) };
}
