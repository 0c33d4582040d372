// Points in time as people in front of this screen read them.
import { duration, twoDigits as two } from '../format';

/** "14:03:09", with the day if it is another one than `nowS`. */
export function timeOfDay(seconds: number, nowS: number): string {
  const at = new Date(seconds * 1000);
  const time = `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
  if (at.toDateString() === new Date(nowS * 1000).toDateString()) return time;
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${time}`;
}

/** Whole seconds below two minutes: a number that ticks should not flicker. */
export function shortDuration(seconds: number): string {
  if (!Number.isFinite(seconds)) return '–';
  const whole = Math.max(0, Math.floor(seconds));
  return whole < 120 ? `${whole} s` : duration(whole);
}

export function agoWords(seconds: number, nowS: number): string {
  const ago = nowS - seconds;
  return ago < 2 ? 'now' : `${shortDuration(ago)} ago`;
}

/** "R1 until 14:03:09" of a reservation of a node, "R1 from ..." of one that is to come. */
export function promiseWords(
  { reservation, start_s, end_s }: { reservation: string; start_s: number; end_s: number }, nowS: number,
): string {
  const begun = start_s <= nowS;
  return `${reservation} ${begun ? 'until' : 'from'} ${timeOfDay(begun ? end_s : start_s, nowS)}`;
}
