import { describe, expect, it } from 'vitest';
import { actionsFor, intervalWords, lifeOf, placeWords, progressWords, secondsLeft, shareDone, spanWords, stateWords } from './job_words';
import type { JobDetails } from './shapes';

function details(part: Partial<JobDetails>): JobDetails {
  return {
    job: 7, id: '7', user: 'ann', state: 'running', num_gpus: 2, priority: 0, runs: 1, held_s: 0,
    submit_s: 1000, spec: {}, preemptions: 0, breakages: 0, ...part,
  };
}

const place = (node: string, index: number) => ({ gpu: index, node, index });

describe('intervals', () => {
  const show = (value: number) => `${value} s`;
  it('are a median between two ends', () => {
    expect(intervalWords({ p10_s: 1, p50_s: 2, p90_s: 5 }, show)).toBe('2 s (1 s to 5 s)');
    expect(intervalWords({ p10_s: 1, p50_s: 2 }, show)).toBe('2 s (1 s to later)');
    expect(intervalWords({ p10_s: 1 }, show)).toBeNull();
    expect(intervalWords(undefined, show)).toBeNull();
  });
});

describe('places', () => {
  it('are told by node, neighbours as ranges', () => {
    expect(placeWords([place('a', 1), place('a', 0), place('a', 2), place('b', 3), place('b', 5)]))
      .toBe('a: 0–2, b: 3, 5');
    expect(placeWords([])).toBe('');
  });
});

describe('progress', () => {
  it('is the share of epochs, else of steps, else unknown', () => {
    expect(shareDone({ epoch: 3, epochs: 4, step: 1, steps: 100 })).toBe(0.75);
    expect(shareDone({ step: 25, steps: 100 })).toBe(0.25);
    expect(shareDone({ step: 25 })).toBeNull();
    expect(shareDone({ epoch: 5, epochs: 4 })).toBe(1);
    expect(shareDone({ epoch: 0, epochs: 0 })).toBeNull();
  });

  it('tells how long it takes at the speed so far, all runs together', () => {
    const job = details({ held_s: 100, run_start_s: 2000, progress: { epoch: 1, epochs: 4 }, progress_s: 2100 });
    expect(secondsLeft(job, 2100)).toBeCloseTo(600);
    expect(secondsLeft(job, 2160)).toBeCloseTo(540);
    expect(secondsLeft(job, 9999)).toBe(0);
    expect(secondsLeft(details({ progress: { epoch: 0, epochs: 4 }, run_start_s: 1 }), 5)).toBeNull();
    expect(secondsLeft({ ...job, state: 'waiting' }, 2100)).toBeNull();
  });

  it('is told in words', () => {
    expect(progressWords({ epoch: 1.5, epochs: 90, samples_per_s: 1234.5, loss: 0.123456, checkpointed: true }))
      .toBe('epoch 1.5 of 90 · 1,235 samples/s · loss 0.1235 · checkpoint written');
    expect(progressWords({})).toBe('');
  });
});

describe('states', () => {
  it('are told with their result', () => {
    expect(stateWords({ state: 'done', result: 'out_of_memory' })).toBe('out of memory');
    expect(stateWords({ state: 'depends' })).toBe('dependent');
  });

  it('allow what the daemon takes', () => {
    expect(actionsFor({ state: 'held' })).toEqual(['release', 'cancel']);
    expect(actionsFor({ state: 'waiting' })).toEqual(['hold', 'cancel']);
    expect(actionsFor({ state: 'suspended' })).toEqual(['requeue', 'cancel']);
    expect(actionsFor({ state: 'running' })).toEqual(['requeue', 'cancel']);
    expect(actionsFor({ state: 'done' })).toEqual([]);
  });
});

describe('the life of a job', () => {
  const kinds = (job: JobDetails, now: number) =>
    lifeOf(job, now).map(({ kind, startS, endS }) => [kind, startS, endS]);

  it('begins with waiting', () => {
    expect(kinds(details({ state: 'waiting', runs: 0 }), 1500)).toEqual([['wait', 1000, 1500]]);
  });

  it('holds every run and the waiting between them', () => {
    const job = details({
      run_start_s: 1400, first_start_s: 1100, held_s: 100,
      past: [{ run: 0, start_s: 1100, end_s: 1200, gpus: [place('a', 0)] }, { run: 1, end_s: 1300, gpus: [] }],
      gpus: [place('b', 1)],
    });
    expect(kinds(job, 1500)).toEqual(
      [['wait', 1000, 1100], ['run', 1100, 1200], ['pause', 1200, 1400], ['run', 1400, 1500]]);
    expect(lifeOf(job, 1500).map(spanWords)).toEqual([
      'waited 100.0 s', 'run 1: 100.0 s on a: 0', 'waited again for 3.3 min', 'run 2: 100.0 s on b: 1']);
  });

  it('is over at its end', () => {
    const job = details({
      state: 'done', run_start_s: 1100, first_start_s: 1100, end_s: 1300, held_s: 200,
      past: [{ run: 0, start_s: 1100, end_s: 1300, gpus: [] }],
    });
    expect(kinds(job, 9999)).toEqual([['wait', 1000, 1100], ['run', 1100, 1300]]);
  });

  it('tells earlier runs as one where they are not known apart', () => {
    const job = details({ run_start_s: 1400, first_start_s: 1100, held_s: 100, runs: 3 });
    expect(kinds(job, 1500)).toEqual(
      [['wait', 1000, 1100], ['run', 1100, 1200], ['pause', 1200, 1400], ['run', 1400, 1500]]);
    expect(spanWords(lifeOf(job, 1500)[1]!)).toBe('earlier runs: 100.0 s');
  });
});
