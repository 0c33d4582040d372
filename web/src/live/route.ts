// The current view of the dashboard, kept in the fragment of the URL.
import { ALL_ACTIVE, type QueueFilter } from './queue';

export const AREAS = ['cluster', 'queue', 'users', 'policies', 'whatif'] as const;
export type Area = (typeof AREAS)[number];

export interface Route {
  area: Area | 'job';
  /** Job number, for area 'job'. */
  job: number;
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
  if (job) return { area: 'job', job: Number(job[1]), filter };
  const area = AREAS.find((each) => each === path) ?? 'cluster';
  return { area, job: 0, filter };
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
