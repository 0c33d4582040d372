// Every kind of figure as shapes, ticks and readings.
import { describe, expect, it } from 'vitest';
import type { Box, Figure, FigureKind, Series } from '../../data/analysis';
import { draw, switchesOf } from './draw';
import { type Drawing, movedSpot, nearestSpot, type Shape } from './drawing';
import type { DrawOptions } from './frame';
import { svgFile } from './svg';

const words = { median: 'median', mean: 'mean', quartiles: 'quartiles', whiskers: 'whiskers', records: 'n' };

function options(more: Partial<DrawOptions> = {}): DrawOptions {
  return { width: 700, xLog: false, yLog: false, hidden: new Set<number>(), words, ...more };
}

function figure(kind: FigureKind, series: Series[], more: Partial<Figure> = {}): Figure {
  return {
    id: 'f', section: 's', title: 'Title', paper: '', text: '', kind, series, categories: [],
    x: { key: 'x', label: 'run time', unit: 'h', scale: 'linear' },
    y: { key: 'y', label: 'share', unit: '%', scale: 'linear' },
    quality: { used: 1, of: 1, note: '' }, ...more,
  };
}

const of = (drawing: Drawing, tag: Shape['tag'], series?: number) =>
  drawing.shapes.filter((shape) => shape.tag === tag &&
    (series === undefined || shape.attributes['data-series'] === series));
const number = (shape: Shape | undefined, name: string) => Number(shape?.attributes[name]);
const texts = (drawing: Drawing) => of(drawing, 'text').map((shape) => shape.text);

/** All shapes have finite positions, and no text leaves the figure. */
function sound(drawing: Drawing): void {
  for (const shape of drawing.shapes) {
    expect(JSON.stringify(shape)).not.toMatch(/NaN|Infinity|null/);
    if (shape.tag === 'text') {
      expect(number(shape, 'x')).toBeGreaterThanOrEqual(0);
      expect(number(shape, 'x')).toBeLessThanOrEqual(drawing.width);
    }
  }
  for (const spot of drawing.spots) expect(Number.isFinite(spot.x + spot.y)).toBe(true);
}

describe('bars', () => {
  const two: Series[] = [
    { key: 'a', label: 'A', y: [10, 20, 40] }, { key: 'b', label: 'B', y: [30, null, 5] },
  ];

  it('stand for numbers, heights in proportion', () => {
    const drawing = draw(figure('bar', two, { categories: ['1', '2', '3-4'] }), options());
    sound(drawing);
    const heights = of(drawing, 'rect', 0).map((shape) => number(shape, 'height'));
    expect(heights[1]! / heights[0]!).toBeCloseTo(2);
    expect(heights[2]! / heights[0]!).toBeCloseTo(4);
    expect(of(drawing, 'rect', 1).length).toBe(2);
    expect(drawing.near).toBe('x');
    expect(drawing.spots[1]).toMatchObject({ title: '2' });
    expect(drawing.spots[1]!.items.map((item) => item.value)).toEqual(['20 %', '–']);
    expect(texts(drawing)).toContain('3-4');
    expect(texts(drawing)).toContain('↑ share [%]');
  });

  it('lie for words', () => {
    const drawing = draw(figure('bar', two, { categories: ['one node', 'two', 'many'] }), options());
    sound(drawing);
    const widths = of(drawing, 'rect', 0).map((shape) => number(shape, 'width'));
    expect(widths[1]! / widths[0]!).toBeCloseTo(2);
    expect(drawing.near).toBe('y');
    expect(texts(drawing)).toContain('share [%] →');
  });

  it('leave out series that are switched off', () => {
    const drawing = draw(figure('bar', two, { categories: ['1', '2', '3'] }), options({ hidden: new Set([0]) }));
    expect(of(drawing, 'rect', 0)).toEqual([]);
    expect(drawing.spots[0]!.items.map((item) => item.label)).toEqual(['B']);
    sound(draw(figure('bar', two, { categories: ['1', '2', '3'] }), options({ hidden: new Set([0, 1]) })));
  });

  it('have a logarithmic scale', () => {
    const one: Series[] = [{ key: 'a', label: 'A', y: [1, 10, 100, 0] }];
    const drawing = draw(figure('bar', one, { categories: ['1', '2', '3', '4'] }), options({ yLog: true }));
    sound(drawing);
    const tops = of(drawing, 'rect', 0).map((shape) => number(shape, 'y'));
    expect(tops.length).toBe(3);
    expect(tops[0]! - tops[1]!).toBeCloseTo(tops[1]! - tops[2]!);
  });

  it('stand on top of each other', () => {
    const drawing = draw(figure('stacked-bar', two, { categories: ['1', '2', '3'] }), options());
    sound(drawing);
    const [below, above] = [of(drawing, 'rect', 0)[0], of(drawing, 'rect', 1)[0]];
    expect(number(above, 'y') + number(above, 'height')).toBeCloseTo(number(below, 'y'));
    expect(number(above, 'x')).toBeCloseTo(number(below, 'x'));
  });

  it('name only as many categories as fit', () => {
    const categories = [...Array(166).keys()].map((i) => String(i + 2));
    const many = figure('bar', [{ key: 'a', label: 'A', y: categories.map((_, i) => i) }], { categories });
    for (const width of [320, 700, 1200]) {
      const drawing = draw(many, options({ width }));
      sound(drawing);
      const places = of(drawing, 'text').filter((shape) => categories.includes(shape.text!) &&
        shape.attributes['text-anchor'] === 'middle' && number(shape, 'y') > 270).map((shape) => number(shape, 'x'));
      places.slice(1).forEach((x, i) => expect(x - places[i]!).toBeGreaterThan(20));
      expect(places.length).toBeGreaterThan(4);
    }
  });
});

describe('lines and steps', () => {
  const curve: Series[] = [
    { key: 'a', label: 'A', x: [1, 10, 100], y: [20, 60, 100] },
    { key: 'b', label: 'B', x: [2, 50], y: [50, 100] },
  ];

  it('read the last step before, and the nearest point of a line', () => {
    const stepped = draw(figure('step', curve), options());
    sound(stepped);
    const at = stepped.spots.find((spot) => spot.title.includes('50 h'))!;
    expect(at.items.map((item) => item.value)).toEqual(['60 %', '100 %']);
    expect(stepped.spots[0]!.items.map((item) => item.value)).toEqual(['20 %', '–']);
    const joined = draw(figure('line', curve), options());
    expect(joined.spots[0]!.items.map((item) => item.value)).toEqual(['20 %', '50 %']);
    const [step] = of(stepped, 'path', 0);
    expect(step!.attributes['d']).toMatch(/^M[\d.]+ [\d.]+H[\d.]+V/);
    expect(of(joined, 'path', 0)[0]!.attributes['d']).toContain('L');
  });

  it('differ in dashes, too', () => {
    const drawing = draw(figure('step', curve), options());
    const [a, b] = [of(drawing, 'path', 0)[0]!, of(drawing, 'path', 1)[0]!];
    expect(a.stroke).not.toBe(b.stroke);
    expect(a.attributes['stroke-dasharray']).not.toBe(b.attributes['stroke-dasharray']);
  });

  it('have a logarithmic x', () => {
    const drawing = draw(figure('step', [{ key: 'a', label: 'A', x: [0, 1, 10, 100], y: [1, 2, 3, 4] }]),
      options({ xLog: true }));
    sound(drawing);
    const [first, second, third] = drawing.spots.map((spot) => spot.x);
    expect(second! - first!).toBeCloseTo(third! - second!);
  });

  it('take names for x, and leave gaps', () => {
    const days = ['2024-04-01', '2024-04-02', '2024-04-03'];
    const drawing = draw(figure('line', [{ key: 'a', label: 'A', x: [0, 1, 2], y: [3, null, 5] }], { categories: days }),
      options({ width: 340 }));
    sound(drawing);
    expect(drawing.spots.map((spot) => spot.title)).toEqual(days);
    expect(of(drawing, 'path', 0)[0]!.attributes['d']).toMatch(/^M[^M]+M[^M]+$/);
  });
});

it('scatter plots have a place a point', () => {
  const drawing = draw(
    figure('scatter', [{ key: 'a', label: 'A', x: [1, 4, 0], y: [0.5, 2, 3] }], {
      y: { key: 'y', label: 'run time', unit: 'h', scale: 'log' },
    }), options({ xLog: true, yLog: true }));
  sound(drawing);
  expect(drawing.spots.length, 'a logarithm has no place for 0').toBe(2);
  expect(drawing.spots[0]!.items[0]!.value).toBe('0.500 h (30 min)');
  expect(nearestSpot(drawing, drawing.spots[1]!.x + 4, drawing.spots[1]!.y - 4)).toBe(1);
});

it('boxes have quartiles, whiskers, a mean and outliers', () => {
  const box: Box = { count: 9, mean: 5.5, low: 1, q1: 3, median: 5, q3: 7, high: 10, outliers: [20] };
  const none: Box = { count: 0, mean: 0, low: 0, q1: 0, median: 0, q3: 0, high: 0, outliers: [] };
  for (const categories of [['2 nodes', 'none'], ['2', '3']]) {
    const drawing = draw(figure('box', [{ key: 'a', label: 'A', boxes: [box, none] }], { categories }), options());
    sound(drawing);
    expect(of(drawing, 'rect', 0).length).toBe(1);
    expect(drawing.spots[0]!.items[0]!.value).toBe(
      'median 5 %, quartiles 3 – 7, whiskers 1 – 10, mean 5.50, n 9');
  }
});

it('heat maps have a row a series, colours by value, and keys that move in two directions', () => {
  const rows: Series[] = [
    { key: 'mon', label: 'Mon', y: [0, 5, 10] }, { key: 'tue', label: 'Tue', y: [10, null, 1] },
  ];
  const drawing = draw(figure('heatmap', rows, { categories: ['0', '1', '2'] }), options());
  sound(drawing);
  const cells = drawing.shapes.filter((shape) => shape.attributes['data-row'] !== undefined);
  expect(cells.map((cell) => cell.heat)).toEqual([0, 0.5, 1, 1, undefined, 0.1]);
  expect(drawing.spots[5]!.title).toBe('share Tue, run time 2');
  expect(movedSpot(drawing, 0, 'ArrowRight')).toBe(1);
  expect(movedSpot(drawing, 1, 'ArrowDown')).toBe(4);
  expect(movedSpot(drawing, 4, 'ArrowDown')).toBe(4);
  expect(movedSpot(drawing, 4, 'ArrowUp')).toBe(1);
  expect(movedSpot(drawing, null, 'ArrowRight')).toBe(0);
  expect(movedSpot(drawing, 3, 'Enter')).toBe(null);
  const log = draw(figure('heatmap', rows, { categories: ['0', '1', '2'] }), options({ yLog: true }));
  const heats = log.shapes.filter((shape) => shape.attributes['data-row'] === 0).map((cell) => cell.heat!);
  expect(heats[0]).toBe(0);
  expect(heats[1]).toBeGreaterThan(0.5);
});

it('no kind fails on a figure without data', () => {
  for (const kind of ['bar', 'stacked-bar', 'line', 'step', 'scatter', 'box', 'heatmap'] as const) {
    for (const log of [false, true]) {
      sound(draw(figure(kind, []), options({ xLog: log, yLog: log })));
      sound(draw(figure(kind, [{ key: 'a', label: 'A', x: [], y: [], boxes: [] }]), options({ xLog: log, yLog: log })));
    }
  }
});

it('switches are there where they show something', () => {
  const wide = [{ key: 'a', label: 'A', x: [1, 100], y: [1, 100] }];
  expect(switchesOf(figure('scatter', wide))).toEqual({ x: true, y: true });
  expect(switchesOf(figure('step', wide))).toEqual({ x: true, y: false });
  expect(switchesOf(figure('bar', wide, { categories: ['1', '2'] }))).toEqual({ x: false, y: true });
  expect(switchesOf(figure('stacked-bar', wide))).toEqual({ x: false, y: false });
  expect(switchesOf(figure('line', [{ key: 'a', label: 'A', x: [1, 2], y: [5, 6] }]))).toEqual({ x: false, y: false });
});

it('an SVG file holds its title, its legend and colours, and no name as an element', () => {
  const drawing = draw(
    figure('bar', [{ key: 'a', label: '<b>&"', y: [1] }], { categories: ['<script>'] }), options());
  const file = svgFile(drawing, 'A & B', [{ label: '<b>&"', color: '--line-0' }], {
    of: (paint) => (paint === 'none' ? 'none' : '#123456'), heat: () => '#000000',
  });
  expect(file).toMatch(/^<svg xmlns="http:\/\/www.w3.org\/2000\/svg"/);
  expect(file).toContain('<title>A &amp; B</title>');
  expect(file).toContain('&lt;script&gt;');
  expect(file).not.toMatch(/<script|<b>|var\(|data-/);
});
