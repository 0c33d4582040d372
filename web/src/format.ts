// Formats numbers with their units.

const MINUTE = 60;
const HOUR = 3600;
const DAY = 86400;

export function count(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

/** With `digits` decimal places. */
export function decimal(value: number, digits: number): string {
  return value.toLocaleString('en-US', {
    minimumFractionDigits: digits, maximumFractionDigits: digits,
  });
}

/** 93784 -> "26.1 h". Uses the same units as the goban command line. */
export function duration(seconds: number): string {
  if (!Number.isFinite(seconds)) return '–';
  if (seconds === 0) return '0 s';
  if (seconds < 1) return `${decimal(seconds * 1000, 0)} ms`;
  if (seconds < 2 * MINUTE) return `${decimal(seconds, 1)} s`;
  if (seconds < 2 * HOUR) return `${decimal(seconds / MINUTE, 1)} min`;
  if (seconds < 2 * DAY) return `${decimal(seconds / HOUR, 1)} h`;
  return `${decimal(seconds / DAY, 1)} d`;
}

/** 7 -> "07". */
export function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}

/** 273784 -> "3 d 04:03:04": time since the first submit. */
export function clock(seconds: number): string {
  const whole = Math.floor(seconds);
  const time =
    `${twoDigits(Math.floor((whole % DAY) / HOUR))}:${twoDigits(Math.floor((whole % HOUR) / MINUTE))}` +
    `:${twoDigits(whole % MINUTE)}`;
  return `${Math.floor(whole / DAY)} d ${time}`;
}

/** Label of a tick on a time axis, no finer than the tick distance `step` requires. */
export function axisTime(seconds: number, step: number): string {
  if (seconds === 0) return '0';
  if (step >= DAY) return `${count(seconds / DAY)} d`;
  const days = Math.floor(seconds / DAY);
  const hours = Math.floor((seconds % DAY) / HOUR);
  const minutes = Math.floor((seconds % HOUR) / MINUTE);
  const parts: string[] = [];
  if (days > 0) parts.push(`${days} d`);
  if (hours > 0) parts.push(`${hours} h`);
  if (step < HOUR && minutes > 0) parts.push(`${minutes} min`);
  if (step < MINUTE && seconds % MINUTE > 0) parts.push(`${decimal(seconds % MINUTE, step < 1 ? 1 : 0)} s`);
  return parts.join(' ');
}

const GIB = 2 ** 30;

export function gib(bytes: number): number {
  return bytes / GIB;
}

/** 0 -> "A": the letter of an application class. */
export function classLetter(appClass: number): string {
  return String.fromCharCode(65 + appClass);
}

type Text = (value: number) => string;

/** Formatters for values up to `max` of the unit `base` ("W", "Wh"), with a suitable SI prefix. */
export function unitText(max: number, base: string): { exact: Text; axis: Text } {
  const [size, prefix] = max >= 1e6 ? [1e6, 'M'] : max >= 1e3 ? [1e3, 'k'] : [1, ''];
  const digits = max / size < 10 ? 2 : max / size < 100 ? 1 : 0;
  return {
    exact: (value) => `${decimal(value / size, digits)} ${prefix}${base}`,
    axis: (value) =>
      `${(value / size).toLocaleString('en-US', { maximumFractionDigits: 3 })} ${prefix}${base}`,
  };
}

/** 21468.9 -> "21,469 kWh": at least three significant digits. */
export function kwhText(kwh: number): string {
  if (!Number.isFinite(kwh)) return '–';
  const digits = kwh === 0 || kwh >= 1000 ? 0 : kwh >= 100 ? 1 : kwh >= 1 ? 2 : 4;
  return `${decimal(kwh, digits)} kWh`;
}

export function percent(share: number, digits = 1): string {
  return Number.isFinite(share) ? `${decimal(100 * share, digits)} %` : '–';
}

/** A ratio as a relative change: 0.8 -> "−20.0 %". */
export function change(ratio: number): string {
  if (!Number.isFinite(ratio)) return '–';
  const value = 100 * (ratio - 1);
  const text = decimal(Math.abs(value), Math.abs(value) < 99.95 ? 1 : 0);
  if (Number(text.replaceAll(',', '')) === 0) return '±0.0 %';
  return `${value < 0 ? '−' : '+'}${text} %`;
}
