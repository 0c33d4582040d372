// The end of a job's log, followed live.
import { useEffect, useRef, useState } from 'preact/hooks';
import { type Api, ApiError, errorText } from './api';
import { retryDelay } from './events';
import { LogTail } from './log_text';
import { useLive } from './useStore';

const FIRST_BYTES = 65_536;

interface Stop {
  signal: AbortSignal;
}

/** Loads the end of the log into `tail`. Returns the offset at which to continue. */
async function readEnd(api: Api, path: string, tail: LogTail, { signal }: Stop): Promise<number> {
  try {
    const response = await api.request(`${path}&offset=-${FIRST_BYTES}`, { signal });
    tail.append(await response.text());
    return Number(response.headers.get('X-Goban-Offset') ?? 0);
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return 0;  // no output yet
    throw error;
  }
}

/** Appends new output until the job finishes (`ended`) or the connection fails. Returns the offset reached. */
async function follow(api: Api, path: string, from: number, tail: LogTail, onText: () => void,
  { signal }: Stop): Promise<{ at: number; ended: boolean }> {
  let at = from;
  try {
    const response = await api.request(`${path}&follow=1&offset=${from}`, { signal });
    const reader = response.body!.getReader();
    const decoder = new TextDecoder();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return { at, ended: true };
      at += value.length;
      tail.append(decoder.decode(value, { stream: true }));
      onText();
    }
  } catch (error) {
    if (signal.aborted || (error instanceof ApiError && error.status !== 0)) throw error;
    return { at, ended: false };
  }
}

interface Shown {
  text: string;
  dropped: number;
  error: string;
  state: 'following' | 'complete';
}

function useLog(job: number, stream: string): Shown {
  const { store } = useLive();
  const [shown, setShown] = useState<Shown>({ text: '', dropped: 0, error: '', state: 'following' });
  useEffect(() => {
    const stop = new AbortController();
    const tail = new LogTail();
    let drawn: number | undefined;
    const draw = (state: Shown['state'] = 'following', error = '') => {
      setShown({ text: tail.text(), dropped: tail.dropped, error, state });
      drawn = undefined;
    };
    // At most one update per frame, however fast the job writes.
    const soon = () => (drawn ??= requestAnimationFrame(() => draw()));
    const run = async () => {
      const path = `/v1/jobs/${job}/log?stream=${stream}`;
      let at = await readEnd(store.api, path, tail, stop);
      draw();
      for (let attempt = 0; !stop.signal.aborted; attempt++) {
        const result = await follow(store.api, path, at, tail, soon, stop);
        if (result.at > at) attempt = 0;
        at = result.at;
        if (result.ended) {
          if (drawn !== undefined) cancelAnimationFrame(drawn);
          return draw('complete');
        }
        await new Promise((resolve) => setTimeout(resolve, retryDelay(attempt)));
      }
    };
    run().catch((error: unknown) => stop.signal.aborted || draw('complete', errorText(error)));
    return () => {
      stop.abort();
      if (drawn !== undefined) cancelAnimationFrame(drawn);
    };
  }, [job, stream, store]);
  return shown;
}

export function LogPanel({ job, over }: { job: number; over: boolean }) {
  const [stream, setStream] = useState('stdout');
  const [follows, setFollows] = useState(true);
  const log = useLog(job, stream);
  const box = useRef<HTMLPreElement>(null);
  useEffect(() => {
    const element = box.current;
    if (element && follows) element.scrollTop = element.scrollHeight;
  }, [log.text, follows]);
  const onScroll = () => {
    const element = box.current;
    if (element) setFollows(element.scrollHeight - element.scrollTop - element.clientHeight < 8);
  };
  return (
    <section class="panel log-panel" aria-label="Log">
      <div class="log-head">
        <h3>Log</h3>
        <label>
          <span class="visually-hidden">Stream</span>
          <select value={stream} onChange={(event) => setStream(event.currentTarget.value)}>
            <option value="stdout">stdout</option>
            <option value="stderr">stderr</option>
          </select>
        </label>
        <label class="check">
          <input type="checkbox" checked={follows} onChange={() => setFollows(!follows)} /> follow
        </label>
        <span class="hint">{log.state === 'following' && !over ? 'live' : 'complete'}</span>
      </div>
      {log.error && <p class="note">{log.error}</p>}
      {log.dropped > 0 && <p class="hint">Earlier lines are omitted; goban logs {job} prints all of them.</p>}
      <pre class="log" ref={box} tabIndex={0} onScroll={onScroll} aria-label="Last lines of the log">
        {log.text === '' && log.state === 'following' && !log.error ? 'There is no output yet.' : log.text}
      </pre>
    </section>
  );
}
