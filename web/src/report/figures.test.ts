import { describe, expect, it } from 'vitest';
import type { ReportDocument, Run } from '../data/document';
import { figuresOf, hasService, predictionText, SERVICE_FIGURES } from './figures';

const run = (figures: Run['figures']): Run => ({ policy: 'p', settings: [], figures });
const served = run({
  jobs: 3, deadline_jobs: 1200, deadline_misses: 2, undo_count: 0, worst_user: 'ann', novel: 1,
  prediction_levels: { measured: 1847, pairs: 2, utilisation: 0 }, energy_kwh: { D: 1 },
});

describe('figures', () => {
  it('stand in one table: those of service not among all, unknown ones at the end', () => {
    expect(figuresOf([served]).map(({ key }) => key)).toEqual(['jobs', 'novel']);
  });
});

describe('service', () => {
  it('is there if a run has it', () => {
    expect(hasService({ runs: [served] } as unknown as ReportDocument)).toBe(true);
    expect(hasService({ runs: [run({ jobs: 3 })] } as unknown as ReportDocument)).toBe(false);
    expect(hasService({ runs: [] } as unknown as ReportDocument)).toBe(false);
  });
  it('says of how many, whom, and by what', () => {
    const note = (key: string) => SERVICE_FIGURES.find((figure) => figure.key === key)?.note?.(served);
    expect(note('deadline_misses')).toBe('of 1,200');
    expect(note('worst_user_slowdown')).toBe('ann');
    expect(predictionText(served)).toBe('1,847 measured, 2 pairs');
    expect(predictionText(run({}))).toBe('none');
  });
});
