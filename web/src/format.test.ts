import { describe, expect, it } from 'vitest';
import { logTimeMarks, timeMarks } from './charts/axis';
import { axisTime, change, clock, duration, kwhText, percent, unitText } from './format';
import { heatScale } from './palette';

describe('times', () => {
  it.each([
    [0, '0 s'], [0.0123, '12 ms'], [95.16, '95.2 s'], [120, '2.0 min'], [7200, '2.0 h'],
    [93784, '26.1 h'], [172800, '2.0 d'], [1e8, '1,157.4 d'], [NaN, '–'],
  ])('%d s is %s', (seconds, text) => expect(duration(seconds)).toBe(text));

  it('counts from the first submit', () => {
    expect(clock(273784.9)).toBe('3 d 04:03:04');
    expect(clock(0)).toBe('0 d 00:00:00');
  });

  it('marks axes as finely as their marks are apart', () => {
    expect(axisTime(0, 60)).toBe('0');
    expect(axisTime(2 * 86400, 86400)).toBe('2 d');
    expect(axisTime(86400 + 6 * 3600, 6 * 3600)).toBe('1 d 6 h');
    expect(axisTime(90, 30)).toBe('1 min 30 s');
    expect(timeMarks(0, 86400, 8)).toEqual({
      step: 10800, at: [0, 10800, 21600, 32400, 43200, 54000, 64800, 75600, 86400],
    });
    expect(logTimeMarks(1, 4000, 1)).toEqual([1, 10, 60, 600, 3600]);
    expect(logTimeMarks(1, 4000, 30)).toEqual([1, 60, 3600]);
    expect(logTimeMarks(20, 30, 1)).toEqual([20, 30]);
  });
});

it('writes changes with a sign', () => {
  expect(change(0.59)).toBe('−41.0 %');
  expect(change(1.25)).toBe('+25.0 %');
  expect(change(13.5)).toBe('+1,250 %');
  expect(change(1.00001)).toBe('±0.0 %');
  expect(change(NaN)).toBe('–');
  expect(percent(0.756)).toBe('75.6 %');
});

it('makes a scale of colours from its stops', () => {
  const scale = heatScale(['#000000', '#ff8000']);
  expect([...scale.slice(0, 4)]).toEqual([0, 0, 0, 255]);
  expect([...scale.slice(50 * 4, 50 * 4 + 3)]).toEqual([128, 64, 0]);
  expect([...scale.slice(400, 404)]).toEqual([255, 128, 0, 255]);
});

describe('energy', () => {
  it.each([
    [21468.9, '21,469 kWh'], [123.45, '123.5 kWh'], [12.345, '12.35 kWh'], [0.01234, '0.0123 kWh'],
    [0, '0 kWh'], [NaN, '–'],
  ])('%d kWh is %s', (kwh, text) => expect(kwhText(kwh)).toBe(text));
  it('has the unit of the largest value', () => {
    expect(unitText(84000, 'W').exact(1234)).toBe('1.2 kW');
    expect(unitText(84000, 'W').axis(20000)).toBe('20 kW');
    expect(unitText(2.5e6, 'Wh').exact(1e6)).toBe('1.00 MWh');
    expect(unitText(0, 'W').exact(0)).toBe('0.00 W');
    expect(unitText(250, 'W').axis(12.5)).toBe('12.5 W');
  });
});
