// The result of a what-if replay as a table: one row per policy, its metrics by name.
import { count, duration } from '../format';

interface AnswerTable {
  heads: string[];
  rows: string[][];
}

function cellText(key: string, value: unknown): string {
  if (typeof value === 'number') {
    if (key.endsWith('_s')) return duration(value);
    return Number.isInteger(value) ? count(value) : String(Number(value.toPrecision(4)));
  }
  return value === null || value === undefined ? '–' : String(value);
}

/** Null if the response has no list of policies. */
export function answerTable(answer: unknown): AnswerTable | null {
  const list = (answer as { policies?: unknown }).policies;
  if (!Array.isArray(list)) return null;
  const rows = list as Record<string, unknown>[];
  const keys = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return {
    heads: keys.map((key) => key.replace(/_s$/, '').replaceAll('_', ' ')),
    rows: rows.map((row) => keys.map((key) => cellText(key, row[key]))),
  };
}
