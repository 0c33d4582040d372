// Logs, users, samples, colours, routes, what-if results.
import { describe, expect, it } from 'vitest';
import { agoText, shortDuration } from './clock';
import { LogTail } from './log_text';
import { classesOf, hasReadings, heatStep, rangeOf, valueOf } from './map_colors';
import { parseRoute, queueHash } from './route';
import { joined, Samples } from './samples';
import { type Cluster, type Gpu, isLive, type JobSummary, parseFacts } from './shapes';
import { usersOf } from './users';
import { answerTable } from './what_if';

function gpu(number: number, part: Partial<Gpu> = {}): Gpu {
  return { gpu: number, state: 'free', jobs: [], scores: [], ...part };
}

function cluster(...gpus: Gpu[]): Cluster {
  const node = { node: 'n', state: 'up' as const, num_gpus: gpus.length, held_gpus: 0, gpus };
  return { name: 'c', num_gpus: gpus.length, racks: [{ rack: '0', nodes: [node] }] };
}

describe('a log', () => {
  it('shows lines as a terminal does, however they come', () => {
    const text = 'start\n 10 %\r 50 %\r100 %\n\u001b[31mred\u001b[0m line\r\nlast';
    for (const size of [1, 2, 5, 100]) {
      const tail = new LogTail();
      for (let at = 0; at < text.length; at += size) tail.append(text.slice(at, at + size));
      expect(tail.text(), `pieces of ${size}`).toBe('start\n100 %\nred line\nlast');
    }
  });

  it('keeps the last lines', () => {
    const tail = new LogTail(3);
    for (let i = 0; i < 10; i++) tail.append(`${i}\n`);
    expect(tail.text()).toBe('8\n9\n');
    expect(tail.dropped).toBe(8);
  });
});

describe('users', () => {
  it('are told with what they hold, want and used', () => {
    const job = (part: Partial<JobSummary>): JobSummary => ({
      job: 1, id: '1', user: 'ann', state: 'waiting', num_gpus: 2, priority: 0, runs: 0, held_s: 0,
      submit_s: 0, ...part,
    });
    const rows = usersOf([
      job({}), job({ user: 'bob', state: 'running', run_start_s: 0, held_s: 1800 }),
      job({ user: 'bob', state: 'done', held_s: 3600, end_s: 1 }), job({ user: 'bob', state: 'held' }),
    ], 3600);
    expect(rows).toEqual([
      { user: 'bob', running: 1, waiting: 0, blocked: 1, done: 1, gpus: 2, waitingGpus: 0, gpuHours: 5 },
      { user: 'ann', running: 0, waiting: 1, blocked: 0, done: 0, gpus: 0, waitingGpus: 2, gpuHours: 0 },
    ]);
  });
});

describe('readings', () => {
  it('are kept for a while, by GPU, and none are made up', () => {
    const samples = new Samples(3);
    for (let at = 0; at < 5; at++) samples.add(cluster(gpu(0, { util_pct: at }), gpu(1)), at);
    expect(samples.of(0, 3).map(({ atS, utilPct, powerW }) => [atS, utilPct, powerW])).toEqual(
      [[3, 3, null], [4, 4, null]]);
    expect(samples.of(0, 0).length).toBe(3);
    expect(samples.of(1, 0)).toEqual([]);
  });

  it('go on from what the daemon recorded', () => {
    const seen = (atS: number) => ({ atS, utilPct: atS, powerW: null, memGib: null });
    const rows = joined([
      [{ at_s: 1, util_pct: 10, mem_used_bytes: 2 ** 30 }, { at_s: 3, power_w: 5 }, { at_s: 6, util_pct: 1 }],
      [{ at_s: 2, util_pct: 20 }],
    ], [[seen(5), seen(7)], [seen(5)]]);
    expect(rows.atS).toEqual([1, 2, 3, 5, 7]);
    expect(rows.readings[0]!.map((reading) => reading && reading.utilPct)).toEqual([10, null, null, 5, 7]);
    expect(rows.readings[0]![0]!.memGib).toBe(1);
    expect(rows.readings[0]![2]!.powerW).toBe(5);
    expect(rows.readings[1]!.map((reading) => reading && reading.utilPct)).toEqual([null, 20, null, 5, null]);
    expect(joined([], [[], []])).toEqual({ atS: [], readings: [[], []] });
  });
});

describe('colours of the map', () => {
  it('say what is known, and nothing else', () => {
    const known = cluster(gpu(0, { util_pct: 50, scores: [1.2, 0.9], power_w: 300 }), gpu(1, { scores: [1, 1] }));
    expect(hasReadings(known, 'use')).toBe(true);
    expect(hasReadings(cluster(gpu(0)), 'speed')).toBe(false);
    expect(valueOf(known.racks[0]!.nodes[0]!.gpus[1]!, 'power', 0)).toBeNull();
    expect(classesOf(known)).toEqual(['A', 'B']);
    expect(rangeOf(known, 'speed', 0)).toEqual({ low: 0.95, high: 1.2 });
    expect(rangeOf(known, 'power', 0)).toEqual({ low: 0, high: 300 });
  });

  it('go over the whole scale', () => {
    expect([0, 50, 100, 1e9].map((value) => heatStep(value, { low: 0, high: 100 }))).toEqual([0, 4, 8, 8]);
    expect(heatStep(null, { low: 0, high: 1 })).toBeNull();
  });
});

describe('addresses', () => {
  it('lead to areas and jobs, and wrong ones to the overview', () => {
    expect(parseRoute('#/job/12')).toMatchObject({ area: 'job', job: 12 });
    expect(parseRoute('#/users').area).toBe('users');
    for (const wrong of ['', '#', '#/job/0', '#/job/x', '#/job/1e9', '#/constructor']) {
      expect(parseRoute(wrong).area, wrong).toBe('overview');
    }
  });

  it('keep the filter, whatever stands in it', () => {
    const filter = { state: 'all', user: 'a&b=c', text: '#/?% ü' };
    expect(parseRoute(queueHash(filter)).filter).toEqual(filter);
    expect(queueHash({ state: 'active', user: '', text: '' })).toBe('#/queue');
  });
});

describe('times', () => {
  it('do not flicker', () => {
    expect([0.4, 59.9, 119, 150, 7300].map(shortDuration)).toEqual(['0 s', '59 s', '119 s', '2.5 min', '2.0 h']);
    expect(shortDuration(NaN)).toBe('–');
    expect(agoText(100, 101)).toBe('now');
    expect(agoText(100, 112)).toBe('12 s ago');
  });
});

describe('documents', () => {
  it('of the dashboard are told from reports', () => {
    const facts = '{"schema":"goban-live/1","goban":"0","policy":"p","policies":[],"what_if":false}';
    expect(isLive(facts)).toBe(true);
    expect(isLive('{"schema": "goban-report"}')).toBe(false);
    expect(parseFacts(facts).policy).toBe('p');
    expect(() => parseFacts(facts.replace('/1', '/2'))).toThrow('reads goban-live/1');
  });

  it('of what-if answers become a table', () => {
    expect(answerTable({ policies: [{ policy: 'fifo', avg_jct_s: 7200, jobs: 1200 }, { policy: 'las', share: 0.12345 }] }))
      .toEqual({
        heads: ['policy', 'avg jct', 'jobs', 'share'],
        rows: [['fifo', '2.0 h', '1,200', '–'], ['las', '–', '–', '0.1235']],
      });
    expect(answerTable({})).toBeNull();
  });
});
