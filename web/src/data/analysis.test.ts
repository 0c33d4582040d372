// The analysis document: version check, CSV export, sorting of tables.
import { expect, it } from 'vitest';
import { wordsOf } from '../analysis/words';
import {
  type Figure, figureCsv, headlines, isAnalysis, parseAnalysis, type Scalar, scalarsCsv, sortedRows, type Table,
  tableCsv,
} from './analysis';

const quality = { used: 0, of: 0, note: '' };

it('is told from a simulation, and its version is checked', () => {
  expect(isAnalysis('{\n "schema": "goban-analysis/1",')).toBe(true);
  expect(isAnalysis('{"schema": "goban-report", "title": "\\"schema\\": \\"goban-analysis/"}')).toBe(false);
  expect(parseAnalysis('{"schema": "goban-analysis/1", "title": "t"}').title).toBe('t');
  expect(() => parseAnalysis('{"schema": "goban-analysis/2"}')).toThrow('goban-analysis/2');
});

it('writes tables as CSV with quoted fields and empty unknowns', () => {
  const table: Table = {
    id: 't', section: 's', title: '', paper: '', text: '', detail: false, quality,
    columns: [{ key: 'user', label: 'User', unit: '' }, { key: 'mean_h', label: 'mean', unit: 'h' }],
    rows: [['a,"b"', 1.5], ['c', null], ['d', 0.00007505], ['e', 0.00025], ['f', -3e-7], ['g', 100000]],
  };
  expect(tableCsv(table)).toBe(
    'user,mean_h\n"a,""b""",1.5\nc,\nd,7.505e-05\ne,0.00025\nf,-3e-07\ng,100000\n');
  // A spreadsheet takes these names for formulas.
  const names = ['=1+1', '@SUM(A1)', '-x', '-5', '-'].map((name) => [name]);
  expect(tableCsv({ ...table, columns: table.columns.slice(0, 1), rows: names }))
    .toBe("user\n'=1+1\n'@SUM(A1)\n'-x\n-5\n-\n");
});

it('writes figures as CSV by x, by category and by box', () => {
  const axis = { key: 'x', label: 'x', unit: '', scale: 'linear' } as const;
  const figure = (more: Partial<Figure>): Figure => ({
    id: 'f', section: 's', title: '', paper: '', text: '', kind: 'line', x: axis, y: axis, categories: [],
    series: [], quality, ...more,
  });
  expect(figureCsv(figure({ series: [{ key: 'a', label: 'A', x: [1, 2], y: [3, null] }] })))
    .toBe('series,x,y\na,1,3\na,2,\n');
  expect(figureCsv(figure({ kind: 'bar', categories: ['p', 'q'], series: [{ key: 'a', label: 'A', y: [3, 4] }] })))
    .toBe('series,x,y\na,p,3\na,q,4\n');
  const box = { count: 3, mean: 2, low: 1, q1: 1.5, median: 2, q3: 2.5, high: 3, outliers: [9] };
  expect(figureCsv(figure({ kind: 'box', categories: ['p'], series: [{ key: 'a', label: 'A', boxes: [box] }] })))
    .toBe('series,category,count,mean,low,q1,median,q3,high\na,p,3,2,1,1.5,2,2.5,3\n');
});

it('sorts numbers and texts, unknown last in both directions', () => {
  const rows = [[3], [null], ['x10'], [1], ['x9']];
  expect(sortedRows(rows, 0, false).flat()).toEqual([1, 3, 'x9', 'x10', null]);
  expect(sortedRows(rows, 0, true).flat()).toEqual(['x10', 'x9', 3, 1, null]);
});

it('puts the numbers first that readers look for', () => {
  const scalar = (key: string, value: number | null): Scalar =>
    ({ key, section: 's', label: key, value, unit: '', paper: '', text: '', quality: { used: 1, of: 2, note: '' } });
  const all = [scalar('other', 1), scalar('median_wait', null), scalar('analysed_share', 2), scalar('analysed_jobs', 3)];
  expect(headlines(all, 8).map((each) => each.key)).toEqual(['analysed_jobs', 'analysed_share']);
  expect(headlines([scalar('other', 1)], 8).length).toBe(1);
  expect(scalarsCsv([scalar('other', 1)])).toBe('key,value,unit,paper,used,of\nother,1,,,1,2\n');
});

it('has every word in both languages', () => {
  const [english, japanese] = [wordsOf('en'), wordsOf('ja')];
  expect(Object.keys(japanese)).toEqual(Object.keys(english));
  const same = Object.entries(english).filter(([key, text]) => japanese[key as keyof typeof japanese] === text);
  expect(same.map(([key]) => key)).toEqual(['saveSvg', 'saveCsv']);
});
