// Times and durations of the dashboard, in the browser's time zone.
import { duration, twoDigits as two } from '../format';

/** "14:03:09", with the date unless it is that of `nowS`. */
export function timeOfDay(seconds: number, nowS: number): string {
  const at = new Date(seconds * 1000);
  const time = `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
  if (at.toDateString() === new Date(nowS * 1000).toDateString()) return time;
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${time}`;
}

/** "14:03", with month and day unless it is the day of `nowS`: for what is not known to the second. */
export function aboutTime(seconds: number, nowS: number): string {
  const at = new Date(seconds * 1000);
  const time = `${two(at.getHours())}:${two(at.getMinutes())}`;
  if (at.toDateString() === new Date(nowS * 1000).toDateString()) return time;
  return `${two(at.getMonth() + 1)}-${two(at.getDate())} ${time}`;
}

/** Like `duration`, but in whole seconds below two minutes, so that counting numbers do not flicker. */
export function shortDuration(seconds: number): string {
  if (!Number.isFinite(seconds)) return '–';
  const whole = Math.max(0, Math.floor(seconds));
  return whole < 120 ? `${whole} s` : duration(whole);
}

export function agoText(seconds: number, nowS: number): string {
  const ago = nowS - seconds;
  return ago < 2 ? 'now' : `${shortDuration(ago)} ago`;
}

/** "R1 until 14:03:09" for an active reservation, "R1 from ..." for a future one. */
export function reservationText(
  { reservation, start_s, end_s }: { reservation: string; start_s: number; end_s: number }, nowS: number,
): string {
  const begun = start_s <= nowS;
  return `${reservation} ${begun ? 'until' : 'from'} ${timeOfDay(begun ? end_s : start_s, nowS)}`;
}
