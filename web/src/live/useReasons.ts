// The reasons why the visible jobs wait. Each one costs the scheduler a search, so few are requested at
// a time, and answers are cached for a while.
import { useEffect, useReducer, useRef } from 'preact/hooks';
import { ApiError } from './api';
import type { JobSummary } from './shapes';
import { useLive } from './useStore';

export interface Reason {
  text: string;
  /** Position in the queue, from 1. */
  position?: number;
  askedMs: number;
}

const AT_ONCE = 2;
const KEEP_MS = 15_000;
const WAITS = new Set(['waiting', 'depends', 'held']);

export function useReasons(shown: JobSummary[]): ReadonlyMap<number, Reason> {
  const { store } = useLive();
  const reasons = useRef(new Map<number, Reason>());
  const wanted = useRef<JobSummary[]>([]);
  const asking = useRef(0);
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  wanted.current = shown;

  useEffect(() => {
    let gone = false;
    const next = (): JobSummary | undefined => wanted.current.find((job) => {
      const known = reasons.current.get(job.job);
      return WAITS.has(job.state) && (!known || Date.now() - known.askedMs > KEEP_MS);
    });
    const ask = async (job: JobSummary) => {
      const known = reasons.current.get(job.job);
      reasons.current.set(job.job, { ...(known ?? { text: '' }), askedMs: Date.now() });
      const { text, waiting } = await store.api.explain(job.job).catch((error: unknown) => ({
        text: error instanceof ApiError && error.status === 403 ? 'visible to its owner only' : '',
        waiting: undefined,
      }));
      reasons.current.set(job.job, {
        text, askedMs: Date.now(), ...(waiting ? { position: waiting.before + 1 } : {}),
      });
    };
    const work = async () => {
      if (asking.current >= AT_ONCE || document.hidden) return;
      asking.current++;
      for (let job = next(); job && !gone; job = next()) {
        await ask(job);
        if (!gone) redraw(undefined);
      }
      asking.current--;
    };
    void work();
    void work();
    const timer = setInterval(() => void work(), 1000);
    return () => {
      gone = true;
      clearInterval(timer);
    };
  }, [store]);
  return reasons.current;
}
