// Formats the numbers of an analysis report.
import type { Cell } from '../../data/analysis';

/** About four significant digits; integers are shown in full. */
export function numberText(value: number): string {
  if (!Number.isFinite(value)) return '–';
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return value.toLocaleString('en-US');
  const size = Math.abs(value);
  if (size >= 1000) return value.toLocaleString('en-US', { maximumFractionDigits: 0 });
  if (size < 1e-4) return value.toExponential(2);
  const digits = size >= 100 ? 1 : size >= 1 ? 2 : 3;
  return value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** A value with its unit. Hours below one are also shown in minutes. */
export function valueText(value: number | null | undefined, unit: string): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return '–';
  const text = unit === '' ? numberText(value) : `${numberText(value)} ${unit}`;
  if (unit !== 'h' || value <= 0 || value >= 1) return text;
  return `${text} (${(60 * value).toLocaleString('en-US', { maximumFractionDigits: 1 })} min)`;
}

export function cellText(cell: Cell | undefined): string {
  if (cell === null || cell === undefined || cell === '') return '–';
  return typeof cell === 'number' ? numberText(cell) : cell;
}

export function withUnit(label: string, unit: string): string {
  return unit === '' ? label : `${label} [${unit}]`;
}
