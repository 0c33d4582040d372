import { describe, expect, it } from 'vitest';
import { filterJobs, NO_FILTER, type Outcomes, type Requests, sortJobs } from './jobs';

const requests: Requests = {
  count: 4,
  names: ['job-10', 'job-9', 'x', 'y'],
  search: ['job-10\nann\nbert', 'job-9\nbob\nbert', 'x\nann\n', 'y\n\ngpt'],
  submit: Float64Array.of(0, 1, 2, 3),
  gpus: Uint32Array.of(1, 8, 1, 4),
  user: Uint32Array.of(1, 2, 1, 0),
  model: Uint32Array.of(2, 2, 0, 1),
  appClass: Uint32Array.of(0, 1, 0, 2),
  users: ['ann', 'bob'],
  models: ['gpt', 'bert'],
};
const outcomes: Outcomes = {
  start: Float64Array.of(0, 5, 2, 9),
  finish: Float64Array.of(10, 15, 12, 19),
  jct: Float64Array.of(10, 14, 10, 16),
  wait: Float64Array.of(0, 4, 0, 6),
  preemptions: Uint32Array.of(0, 2, 0, 0),
  end: Uint32Array.of(1, 1, 1, 2),
};
const all = Uint32Array.of(0, 1, 2, 3);
const kept = (filter: Partial<typeof NO_FILTER>) => [
  ...filterJobs(requests, outcomes, { ...NO_FILTER, ...filter }),
];

describe('filters', () => {
  it('searches job, user and model, whatever the case', () => {
    expect(kept({})).toEqual([0, 1, 2, 3]);
    expect(kept({ text: ' BERT ' })).toEqual([0, 1]);
    expect(kept({ text: 'ann' })).toEqual([0, 2]);
    expect(kept({ text: 'nobody' })).toEqual([]);
  });
  it('holds together', () => {
    expect(kept({ appClass: 0 })).toEqual([0, 2]);
    expect(kept({ gpusMin: 4 })).toEqual([1, 3]);
    expect(kept({ preempted: true })).toEqual([1]);
    expect(kept({ killed: true })).toEqual([3]);
    expect(kept({ gpusMin: 4, killed: true, text: 'gpt' })).toEqual([3]);
    expect(kept({ preempted: true, killed: true })).toEqual([]);
  });
});

describe('sorting', () => {
  const sorted = (key: Parameters<typeof sortJobs>[3], descending = false) => [
    ...sortJobs(all, requests, outcomes, key, descending),
  ];
  it('keeps the submit order of ties, both ways', () => {
    expect(sorted('jct')).toEqual([0, 2, 1, 3]);
    expect(sorted('jct', true)).toEqual([3, 1, 0, 2]);
  });
  it('sorts names as people do', () => {
    expect(sorted('name')).toEqual([1, 0, 2, 3]);
  });
  it('sorts by the names of users and models, without one first', () => {
    expect(sorted('user')).toEqual([3, 0, 2, 1]);
    expect(sorted('model')).toEqual([2, 0, 1, 3]);
  });
  it('does not change what it was given', () => {
    sorted('gpus');
    expect([...all]).toEqual([0, 1, 2, 3]);
  });
});
