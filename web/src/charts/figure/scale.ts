// From values to places: linear, logarithmic and by category, with marks that do not overlap.
import { roundMarks } from '../scatter';

export interface Mark {
  at: number;
  text: string;
}

export interface Scale {
  /** Place of a value in pixels. */
  at: (value: number) => number;
  /** Whether it has a place: a logarithm has none for 0. */
  has: (value: number) => boolean;
  marks: Mark[];
}

const CHAR = 6.6;
const WIDE_CHAR = 12.2;

/** About how wide a text is in 12 pixel type; Chinese characters and kana are wider. */
export function textWidth(text: string): number {
  let width = 0;
  for (const char of text) width += char.codePointAt(0)! >= 0x1100 ? WIDE_CHAR : CHAR;
  return width;
}

/** `text`, or its beginning if it is wider than `room`. */
export function fitted(text: string, room: number): string {
  if (textWidth(text) <= room) return text;
  let short = '';
  for (const char of text) {
    if (textWidth(`${short}${char}…`) > room) break;
    short += char;
  }
  return `${short}…`;
}

/** 1234567 -> "1.23 M", 0.5 -> "0.5": a mark on an axis. */
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

/** Marks in [from, to] pixels, those left out that would overlap the one before. */
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
  /** Pixels of the least and of the greatest value. */
  from: number;
  to: number;
  /** Pixels that a mark takes along the axis. */
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

/** `min` and `max` above 0. */
export function logScale(min: number, max: number, span: Span): Scale {
  const low = Math.log10(min);
  const high = max > min ? Math.log10(max) : low + 1;
  const at = (value: number) =>
    span.from + ((span.to - span.from) * (Math.log10(value) - low)) / (high - low);
  const has = (value: number) => Number.isFinite(value) && value > 0;
  // Powers of ten first; 2 and 5 between them where there is room.
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

/** Categories side by side: value i is the middle of the i-th band. */
export function bandScale(texts: string[], span: Span): Scale & { band: number } {
  const band = (span.to - span.from) / Math.max(1, texts.length);
  const at = (value: number) => span.from + band * (value + 0.5);
  const marks = texts.map((text, i) => ({ at: i, text }));
  const widest = Math.max(1, ...marks.map(span.room));
  const every = Math.max(1, Math.ceil(widest / Math.abs(band)));
  return { at, has: Number.isFinite, marks: marks.filter((mark) => mark.at % every === 0), band: Math.abs(band) };
}
