import { describe, expect, it } from 'vitest';
import { findingOf, mostSaving, type PolicyWorth, type Worth } from './worth';

const policy = (name: string, saving?: number) =>
  ({ policy: name, ...(saving === undefined ? {} : { saving: { value: saving, low: null, high: null } }) }) as PolicyWorth;
const worth = (...policies: PolicyWorth[]) => ({ policies }) as Worth;

describe('worth', () => {
  it('puts the policy that saves most first, also if all lose', () => {
    expect(mostSaving(worth(policy('now'), policy('a', 3), policy('b', 5)))?.policy).toBe('b');
    expect(mostSaving(worth(policy('now'), policy('a', -3), policy('b', -5)))?.policy).toBe('a');
    expect(mostSaving(worth(policy('now')))).toBeUndefined();
  });
  it('claims only what the interval shows', () => {
    expect(findingOf({ value: 2, low: 1, high: 3 })).toBe('saves');
    expect(findingOf({ value: 2, low: -1, high: 5 })).toBe('not shown');
    expect(findingOf({ value: -2, low: -3, high: -1 })).toBe('costs');
    expect(findingOf({ value: 2, low: null, high: null })).toBe('no interval');
  });
});
