// The overview's numbers, efficiency by user, the form of a new job, links in logs, loss curves.
import { describe, expect, it } from 'vitest';
import { tokenOf } from './api';
import { usesOf } from './history';
import { linksIn } from './job_links';
import { lossPoints } from './loss_points';
import { EMPTY_FORM, formOf, limitSeconds, limitText, requestOf } from './new_job';
import { meanLoad, nodeNumbers, nodeWords, powerByStep } from './overview';
import type { ClusterNode, JobSummary, Overview } from './shapes';

function overview(part: Partial<Overview> = {}): Overview {
  return {
    from_s: 1000, to_s: 1040, step_s: 10, num_gpus: 4, held_gpus: [0, 2, 4, 2], waiting_jobs: [0, 0, 0, 0],
    waiting_gpus: [0, 0, 0, 0], gpu_hours: 0, submitted: 0, ended: {}, ...part,
  };
}

describe('the overview', () => {
  it('has means, and gaps where nothing was measured', () => {
    expect(meanLoad(overview())).toBe(0.5);
    expect(meanLoad(overview({ num_gpus: 0 }))).toBeNull();
    expect(powerByStep(overview({ power: [{ at_s: 1015, power_w: 500 }, { at_s: 2000, power_w: 1 }] }))).toEqual(
      [null, 0.5, null, null]);
  });

  it('sums the numbers of a node', () => {
    const gpu = (part: object) => ({ gpu: 0, state: 'busy' as const, jobs: [], scores: [], ...part });
    const node = { node: 'n', state: 'up', num_gpus: 3, held_gpus: 2,
      gpus: [gpu({ util_pct: 90, power_w: 300 }), gpu({ util_pct: 10, power_w: 100 }), gpu({})] } satisfies ClusterNode;
    expect(nodeWords(nodeNumbers(node))).toBe('2 of 3 · 50 % · 400 W');
    expect(nodeWords(nodeNumbers({ ...node, gpus: [gpu({})] }))).toBe('2 of 3');
  });
});

it('weighs the efficiency of users by GPU-hours', () => {
  const job = (user: string, hours: number, util?: number) => ({
    user, num_gpus: 1, held_s: 3600 * hours, result: 'completed',
    ...(util === undefined ? {} : { usage: { gpu_util_pct: util } }),
  }) as unknown as JobSummary;
  expect(usesOf([job('ann', 3, 100), job('ann', 1, 0), job('bob', 10), job('cid', 2, 10)])).toEqual([
    { user: 'cid', jobs: 1, failed: 0, gpuHours: 2, utilPct: 10, idleGpuHours: 1.8, kwh: null },
    { user: 'ann', jobs: 2, failed: 0, gpuHours: 4, utilPct: 75, idleGpuHours: 1, kwh: null },
    { user: 'bob', jobs: 1, failed: 0, gpuHours: 10, utilPct: null, idleGpuHours: null, kwh: null },
  ]);
});

describe('a new job', () => {
  it('has a time limit in the words of the command line', () => {
    for (const [text, seconds] of [['90', 5400], ['90m', 5400], ['4h', 14_400], ['1.5d', 129_600], ['10:00', 600],
      ['04:00:00', 14_400], ['1-12:00', 129_600]] as const) expect(limitSeconds(text), text).toBe(seconds);
    for (const text of ['', 'soon', '-1', '4 hours', '1:2']) expect(limitSeconds(text), text).toBeNull();
    expect([3600, 5400, 61].map(limitText)).toEqual(['1h', '90m', '61s']);
    expect(limitText(undefined)).toBe('');
  });

  it('repeats a request without what was true once', () => {
    const spec = { name: 'a', qos: 'high', array_first: 3, work_folder: '/w', owner: { uid: 0 }, payload: 'p',
      dependencies: [1], stop: { grace_s: 5 } };
    const form = { ...formOf(spec, 2, 3600, 'run\r\n'), name: '' };
    expect(requestOf(form, spec)).toEqual({ body: {
      qos: 'high', stop: { grace_s: 5 }, script: 'run\n', num_gpus: 2, walltime_s: 3600, work_folder: '/w' } });
    expect(requestOf(EMPTY_FORM, null)).toEqual({ error: 'Script: it is empty' });
    expect(requestOf({ ...form, gpus: '1.5' }, null)).toEqual({ error: 'GPUs: must be a whole number' });
  });
});

it('finds trackers in a log, and nothing that is not the address of one', () => {
  const log = [
    '\u001b[34mwandb\u001b[0m: ⭐️ View project at https://wandb.ai/team/net',
    'wandb: 🚀 View run at https://wandb.ai/team/net/runs/ab12',
    '🏃 View run gentle-fox at: http://mlflow.local:5000/#/experiments/3/runs/0f1e.',
    'wandb: 🚀 View run at https://wandb.ai/team/net/runs/ab12',
    'wandb: https://user:password@wandb.ai/runs/x', 'javascript:alert(1) View run', 'see https://example.org/runs/1',
    'View run at javascript:alert(1)', 'https://evilwandb.ai/runs/1',
  ].join('\n');
  expect(linksIn(log)).toEqual([
    { name: 'Weights & Biases', url: 'https://wandb.ai/team/net/runs/ab12' },
    { name: 'MLflow', url: 'http://mlflow.local:5000/#/experiments/3/runs/0f1e' },
  ]);
});

it('draws the loss by step, the last report of each, or by time', () => {
  const points = [{ at_s: 1, step: 0, loss: 3 }, { at_s: 2, step: 10, loss: 2 }, { at_s: 9, step: 10, loss: 2.5 },
    { at_s: 10, step: 20 }];
  expect(lossPoints({ job: 1, points })).toEqual({ bySteps: true, x: [0, 10], loss: [3, 2.5] });
  expect(lossPoints({ job: 1, points: [{ at_s: 5, loss: 1 }, { at_s: 6, step: 1, loss: 0.5 }] })).toEqual(
    { bySteps: false, x: [5, 6], loss: [1, 0.5] });
});

it('takes a token or the link of goban token', () => {
  expect(tokenOf(' abc ')).toBe('abc');
  expect(tokenOf('http://127.0.0.1:8080/#token=a%2Bb')).toBe('a+b');
});
