// The report of `goban analyze` as embedded in the page (report.json, schema in docs/analyze.md).
import { isOf, parseOf } from './schema';

export type FigureKind = 'bar' | 'stacked-bar' | 'line' | 'step' | 'scatter' | 'box' | 'heatmap';
export type Cell = number | string | null;

/** How many records the numbers are based on: `used` of `of`. `of` = 0: not stated. */
export interface Quality {
  used: number;
  of: number;
  note: string;
}

export interface Column {
  key: string;
  label: string;
  unit: string;
}

export interface Table {
  id: string;
  section: string;
  title: string;
  paper: string;
  text: string;
  /** The table holds the data of the figure with the same id. */
  detail: boolean;
  columns: Column[];
  rows: Cell[][];
  quality: Quality;
}

export interface Axis {
  key: string;
  label: string;
  unit: string;
  scale: 'linear' | 'log';
}

export interface Box {
  count: number;
  mean: number;
  low: number;
  q1: number;
  median: number;
  q3: number;
  high: number;
  outliers: number[];
}

/** Unknown values are null. */
export interface Series {
  key: string;
  label: string;
  x?: (number | null)[];
  y?: (number | null)[];
  boxes?: Box[];
}

export interface Figure {
  id: string;
  section: string;
  title: string;
  paper: string;
  text: string;
  kind: FigureKind;
  x: Axis;
  y: Axis;
  categories: string[];
  series: Series[];
  quality: Quality;
}

export interface Scalar {
  key: string;
  section: string;
  label: string;
  value: Cell;
  unit: string;
  /** The value of ABCI in 2019; empty if the paper has none. */
  paper: string;
  text: string;
  quality: Quality;
}

export interface Absent {
  id: string;
  section: string;
  title: string;
  paper: string;
  reason: string;
}

export interface AnalysisDocument {
  schema: string;
  language: 'en' | 'ja';
  title: string;
  sections: { key: string; title: string }[];
  scalars: Scalar[];
  tables: Table[];
  figures: Figure[];
  absent: Absent[];
  remarks: { level: 'note' | 'warning'; text: string }[];
}

/** Whether the embedded document is a report of `goban analyze`. */
export function isAnalysis(json: string): boolean {
  return isOf(json, 'goban-analysis');
}

/** Errors: throws if the document has another version. */
export function parseAnalysis(json: string): AnalysisDocument {
  return parseOf(json, 'goban-analysis/1');
}

/** Keys of the scalars to show first, most important first. A report has some of them. */
const HEADLINES = [
  'analysed_jobs', 'analysed_share', 'used_of_known', 'busy_of_known', 'mean_held_share',
  'median_wait', 'one_gpu_share', 'multi_node_share', 'multi_node_hours_share',
  'top_share_gpu_hours', 'exceeded_share', 'within_hour_share',
];

export function headlines(scalars: Scalar[], most: number): Scalar[] {
  const found = HEADLINES.map((key) => scalars.find((scalar) => scalar.key === key))
    .filter((scalar) => scalar !== undefined)
    .filter((scalar) => scalar.value !== null);
  return (found.length > 0 ? found : scalars).slice(0, most);
}

/** Formats a number as the program does in CSV files: 0.00001 is shorter as 1e-05. */
function numberField(value: number): string {
  const plain = String(value);
  if (value === 0 || Math.abs(value) >= 1) return plain;
  const [digits, exponent = ''] = value.toExponential().split('e-');
  const short = `${digits}e-${exponent.padStart(2, '0')}`;
  return plain.includes('e') || short.length < plain.length ? short : plain;
}

/** Text that a spreadsheet would take for a formula gets an apostrophe in front. */
function sheetText(text: string): string {
  return /^[=+\-@\t\r]./s.test(text) && !/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) ? `'${text}` : text;
}

function csvField(value: Cell | undefined): string {
  if (value === null || value === undefined) return '';
  const text = typeof value === 'number' ? numberField(value) : sheetText(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function csv(rows: (Cell | undefined)[][]): string {
  return rows.map((row) => `${row.map(csvField).join(',')}\n`).join('');
}

/** Same content as tables/ID.csv. */
export function tableCsv(table: Table): string {
  return csv([table.columns.map((column) => column.key), ...table.rows]);
}

/** Same content as figures/ID.csv. */
export function figureCsv(figure: Figure): string {
  if (figure.kind === 'box') {
    return csv([
      ['series', 'category', 'count', 'mean', 'low', 'q1', 'median', 'q3', 'high'],
      ...figure.series.flatMap(({ key, boxes = [] }) =>
        boxes.map((box, i) => [
          key, figure.categories[i] ?? '', box.count, box.mean, box.low, box.q1, box.median, box.q3,
          box.high,
        ])),
    ]);
  }
  return csv([
    ['series', 'x', 'y'],
    ...figure.series.flatMap(({ key, x, y = [] }) =>
      y.map((value, i) => [key, x && x.length > 0 ? x[i] : (figure.categories[i] ?? ''), value])),
  ]);
}

/** Same content as tables/scalars.csv. */
export function scalarsCsv(scalars: Scalar[]): string {
  return csv([
    ['key', 'value', 'unit', 'paper', 'used', 'of'],
    ...scalars.map(({ key, value, unit, paper, quality }) => [
      key, value, unit, paper, quality.used, quality.of,
    ]),
  ]);
}

/** Sorts numbers before strings; unknown values come last in both directions. */
export function sortedRows(rows: Cell[][], column: number, descending: boolean): Cell[][] {
  const sign = descending ? -1 : 1;
  const compare = (a: Cell, b: Cell): number => {
    if (typeof a === 'number' && typeof b === 'number') return sign * (a - b);
    if (typeof a !== typeof b) return sign * (typeof a === 'number' ? -1 : 1);
    return sign * String(a).localeCompare(String(b), 'en', { numeric: true });
  };
  const empty = (cell: Cell | undefined) => cell === null || cell === undefined || cell === '';
  return [...rows].sort((left, right) => {
    const a = left[column] ?? null;
    const b = right[column] ?? null;
    if (empty(a) || empty(b)) return Number(empty(a)) - Number(empty(b));
    return compare(a, b);
  });
}
