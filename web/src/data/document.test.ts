import { describe, expect, it } from 'vitest';
import { figureOf, gainOf, parseDocument, type Run, worstAccount } from './document';

const run = (figures: Run['figures']): Run => ({ policy: 'p', settings: [], figures });

describe('figures', () => {
  it('are numbers, or not there', () => {
    expect(figureOf(run({ jobs: 3 }), 'jobs')).toBe(3);
    expect(figureOf(run({ jobs: null }), 'jobs')).toBeNaN();
    expect(figureOf(run({}), 'jobs')).toBeNaN();
    expect(worstAccount(run({ worst_account: null }))).toBeUndefined();
  });
  it('say what a gain is worth', () => {
    expect(gainOf(run({ gain_jct: 0.1 }), 'jct')).toEqual({ gain: 0.1, claimed: true });
    const tested = { gain_wait: 0.1, gain_wait_error: 0.2, gain_wait_claimed: false };
    expect(gainOf(run(tested), 'wait')).toEqual({ gain: 0.1, error: 0.2, claimed: false });
    const unknown = { gain_jct: 0.1, gain_jct_error: null, gain_jct_claimed: false };
    expect(gainOf(run(unknown), 'jct').error).toBeNaN();
  });
});

it('refuses what is no report, or of another version', () => {
  expect(() => parseDocument(' ')).toThrow(/no report/);
  expect(() => parseDocument('[]')).toThrow(/not a goban report/);
  expect(() => parseDocument('{"schema":"goban-report","version":99}')).toThrow(/version 1, not .* 99/);
});
