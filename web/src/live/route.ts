// The current view of the dashboard, kept in the fragment of the URL.
import { ALL_ACTIVE, type QueueFilter } from './queue';

export const AREAS = ['overview', 'cluster', 'queue', 'history', 'users', 'policies', 'whatif', 'submit'] as const;
export type Area = (typeof AREAS)[number];

export interface Route {
  area: Area | 'job';
  /** Job number, for area 'job'. */
  job: number;
  /** For area 'submit': the job whose request it repeats; 0 = none. */
  from: number;
  /** For area 'queue'. */
  filter: QueueFilter;
}

export function parseRoute(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?');
  const params = new URLSearchParams(query);
  const filter = {
    state: params.get('state') ?? ALL_ACTIVE.state, user: params.get('user') ?? '',
    text: params.get('text') ?? '',
  };
  const job = /^job\/([1-9][0-9]{0,9})$/.exec(path);
  if (job) return { area: 'job', job: Number(job[1]), from: 0, filter };
  const area = AREAS.find((each) => each === path) ?? 'overview';
  const from = /^[1-9][0-9]{0,9}$/.test(params.get('from') ?? '') ? Number(params.get('from')) : 0;
  return { area, job: 0, from, filter };
}

export function queueHash(filter: QueueFilter): string {
  const params = new URLSearchParams();
  for (const key of ['state', 'user', 'text'] as const) {
    if (filter[key] !== ALL_ACTIVE[key]) params.set(key, filter[key]);
  }
  const query = params.toString();
  return `#/queue${query ? `?${query}` : ''}`;
}

export function jobHash(job: number): string {
  return `#/job/${job}`;
}
