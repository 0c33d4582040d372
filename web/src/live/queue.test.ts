import { describe, expect, it } from 'vitest';
import { ALL_ACTIVE, filterQueue, sortQueue, timeOf, visibleRows } from './queue';
import type { JobSummary } from './shapes';

function job(number: number, part: Partial<JobSummary> = {}): JobSummary {
  return {
    job: number, id: String(number), user: 'ann', state: 'waiting', num_gpus: 1, priority: 0, runs: 0,
    held_s: 0, submit_s: 100, ...part,
  };
}

const numbers = (jobs: JobSummary[]) => jobs.map((each) => each.job);

describe('the queue', () => {
  const jobs = [
    job(1, { state: 'done', end_s: 300 }), job(2, { state: 'waiting', position: 2 }),
    job(3, { state: 'running', run_start_s: 150, name: 'Resnet 50' }),
    job(4, { state: 'waiting', position: 1, user: 'bob', num_gpus: 8 }), job(5, { state: 'done', end_s: 400 }),
  ];

  it('hides jobs that are over until they are asked for', () => {
    expect(numbers(filterQueue(jobs, ALL_ACTIVE))).toEqual([2, 3, 4]);
    expect(numbers(filterQueue(jobs, { ...ALL_ACTIVE, state: 'all' }))).toEqual([1, 2, 3, 4, 5]);
    expect(numbers(filterQueue(jobs, { ...ALL_ACTIVE, state: 'done' }))).toEqual([1, 5]);
  });

  it('finds all words, in any case', () => {
    expect(numbers(filterQueue(jobs, { ...ALL_ACTIVE, text: ' RESNET  ann' }))).toEqual([3]);
    expect(numbers(filterQueue(jobs, { ...ALL_ACTIVE, text: 'resnet bob' }))).toEqual([]);
    expect(numbers(filterQueue(jobs, { ...ALL_ACTIVE, user: 'bob' }))).toEqual([4]);
  });

  it('shows what runs, then who is next, then what ended last', () => {
    expect(numbers(sortQueue(jobs, { key: 'state', descending: false }, 500))).toEqual([3, 4, 2, 5, 1]);
  });

  it('sorts by numbers and names, in both directions', () => {
    expect(numbers(sortQueue(jobs, { key: 'num_gpus', descending: true }, 500))[0]).toBe(4);
    expect(numbers(sortQueue(jobs, { key: 'user', descending: true }, 500))[0]).toBe(4);
    expect(numbers(sortQueue(jobs, { key: 'job', descending: true }, 500))).toEqual([5, 4, 3, 2, 1]);
    expect(numbers(sortQueue(jobs, { key: 'position', descending: false }, 500)).slice(0, 2)).toEqual([4, 2]);
  });

  it('sorts by the forecast of the start; jobs without one are last', () => {
    const waiting = [job(1), job(2, { start: { p50_s: 900 } }), job(3, { start: { p10_s: 1, p50_s: 700 } }),
      job(4, { state: 'running', run_start_s: 150, start: { p50_s: 100 } })];
    expect(numbers(sortQueue(waiting, { key: 'start', descending: false }, 500))).toEqual([3, 2, 4, 1]);
  });

  it('tells how long a job waits, runs, or took', () => {
    expect(jobs.map((each) => timeOf(each, 500))).toEqual([200, 400, 350, 400, 300]);
  });

  it('draws few rows of many', () => {
    expect(visibleRows(0, 600, 36, 10_000)).toEqual({ first: 0, end: 29 });
    const middle = visibleRows(180_000, 600, 36, 10_000);
    expect(middle).toEqual({ first: 4988, end: 5029 });
    expect(visibleRows(1e9, 600, 36, 10)).toEqual({ first: 0, end: 10 });
    expect(visibleRows(0, 600, 36, 0)).toEqual({ first: 0, end: 0 });
  });

  it('sorts ten thousand jobs in a blink', () => {
    const many = Array.from({ length: 10_000 }, (_, i) => job(i + 1, { priority: (i * 7919) % 100 }));
    const from = performance.now();
    const sorted = sortQueue(filterQueue(many, ALL_ACTIVE), { key: 'priority', descending: true }, 0);
    expect(performance.now() - from).toBeLessThan(1000);
    expect(sorted[0]!.priority).toBe(99);
    expect(sorted.at(-1)!.priority).toBe(0);
  });
});
