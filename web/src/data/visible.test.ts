import { expect, test } from 'vitest';
import { parseVisible, visible } from './visible';

test('characters that reorder text or break lines are shown as escapes', () => {
  expect(visible('a\u202egpj.exe')).toBe('a\\u202egpj.exe');
  expect(visible('\u061c\u200f\u2028\u2069')).toBe('\\u061c\\u200f\\u2028\\u2069');
  expect(visible('plain \u05d0 \u200d')).toBe('plain \u05d0 \u200d');
});

test('JSON is read so whether they are raw or escaped', () => {
  expect(parseVisible('{"a": ["\u202ex", "\\u202Ex", "\\\\u202ex"], "n": -1}')).toEqual({
    a: ['\\u202ex', '\\u202ex', '\\u202ex'], n: -1,
  });
  expect(parseVisible('{"a": "plain"}')).toEqual({ a: 'plain' });
});
