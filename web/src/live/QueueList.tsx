// The rows of the queue. Only visible rows are in the DOM.
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { count } from '../format';
import { SortHead, sortState } from '../SortHead';
import { aboutTime, shortDuration, timeOfDay } from './clock';
import { intervalWords, placeWords } from './job_words';
import { JobLink, StateBadge } from './Parts';
import { type QueueKey, type QueueOrder, timeOf, visibleRows } from './queue';
import { jobHash } from './route';
import type { JobSummary } from './shapes';
import { useNow } from './useStore';
import { type Reason, useReasons } from './useReasons';

/** Height of a row in CSS pixels; must match style/queue.css. */
const ROW_WIDE = 36;
/** In narrow windows a row has two lines: style/live_narrow.css. */
const ROW_NARROW = 62;
const NARROW = matchMedia('(max-width: 760px)');

/** The height of a row in this window. */
function useRowHeight(): number {
  const [narrow, setNarrow] = useState(NARROW.matches);
  useEffect(() => {
    const change = () => setNarrow(NARROW.matches);
    NARROW.addEventListener('change', change);
    return () => NARROW.removeEventListener('change', change);
  }, []);
  return narrow ? ROW_NARROW : ROW_WIDE;
}

const COLUMNS: readonly { key: QueueKey; head: string; class: string }[] = [
  { key: 'job', head: 'Job', class: '' },
  { key: 'user', head: 'User', class: '' },
  { key: 'name', head: 'Name', class: 'wide' },
  { key: 'state', head: 'State', class: '' },
  { key: 'num_gpus', head: 'GPUs', class: 'number' },
  { key: 'priority', head: 'Priority', class: 'number wide' },
  { key: 'time', head: 'Time', class: 'number' },
  { key: 'position', head: 'Position', class: 'number wide' },
  { key: 'start', head: 'Starts about', class: 'number wide' },
];

interface QueueListProps {
  rows: JobSummary[];
  order: QueueOrder;
  onSort: (key: QueueKey) => void;
}

function Heads({ order, onSort, rows }: QueueListProps) {
  // Without positions in the list they are known for visible rows only, so the column cannot be sorted.
  const hasPlaces = rows.some(({ position }) => position !== undefined);
  return (
    <thead>
      <tr>
        {COLUMNS.map(({ key, head, class: name }) => (key === 'position' && !hasPlaces
          ? <th key={key} scope="col" class={`${name} plain-head`}>{head}</th>
          : <SortHead key={key} text={head} class={name} state={sortState(order, key)} onSort={() => onSort(key)} />
        ))}
        <th scope="col" class="wide plain-head">Placement or reason</th>
      </tr>
    </thead>
  );
}

function whereOf(job: JobSummary, reason: Reason | undefined): string {
  if (job.state === 'done') return job.gpus ? `ran on ${placeWords(job.gpus)}` : '';
  if (job.gpus && job.state !== 'waiting' && job.state !== 'held') return placeWords(job.gpus);
  return reason?.text ?? '';
}

/** When a waiting job is expected to start: the median, and with the interval. */
function startOf({ state, start }: JobSummary, nowS: number): { short: string; long: string } {
  const clock = (at: number) => timeOfDay(at, nowS);
  const long = state === 'waiting' ? intervalWords(start, clock) : null;
  return long === null ? { short: '', long: '' } : { short: aboutTime(start!.p50_s!, nowS), long: `80 % interval: ${long}` };
}

function Row({ job, chosen, row, nowS, reason, onChoose }: {
  job: JobSummary; chosen: boolean; row: number; nowS: number; reason: Reason | undefined;
  onChoose: () => void;
}) {
  const place = job.position ?? reason?.position;
  const where = whereOf(job, reason);
  const start = startOf(job, nowS);
  return (
    <tr id={`job-${job.job}`} class={chosen ? 'chosen' : ''} aria-selected={chosen} aria-rowindex={row + 2}
      onClick={(event) => {
        onChoose();
        if (!(event.target as HTMLElement).closest('a')) location.hash = jobHash(job.job);
      }}>
      <td><JobLink job={job} /></td>
      <td class="text" title={job.user}>{job.user}</td>
      <td class="text wide" title={job.name}>{job.name ?? ''}</td>
      <td><StateBadge job={job} /></td>
      <td class="number">{count(job.num_gpus)}</td>
      <td class="number wide">{job.priority}</td>
      <td class="number">{shortDuration(timeOf(job, nowS))}</td>
      <td class="number wide">{job.state === 'waiting' && place !== undefined ? count(place) : ''}</td>
      <td class="number wide start" title={start.long}>{start.short}</td>
      <td class="text wide reason" title={where}>{where}</td>
    </tr>
  );
}

export function QueueList({ rows, order, onSort }: QueueListProps) {
  const frame = useRef<HTMLDivElement>(null);
  const rowHeight = useRowHeight();
  const nowS = useNow();
  const [scroll, setScroll] = useState({ top: 0, height: 600 });
  const [chosen, setChosen] = useState<number | null>(null);
  const { first, end } = visibleRows(scroll.top, scroll.height, rowHeight, rows.length);
  const shown = rows.slice(first, end);
  const reasons = useReasons(shown);

  const measure = () => {
    const element = frame.current;
    if (element) setScroll({ top: element.scrollTop, height: element.clientHeight });
  };
  useLayoutEffect(measure, [rows.length]);
  useEffect(() => {
    addEventListener('resize', measure);
    return () => removeEventListener('resize', measure);
  }, []);

  const at = rows.findIndex(({ job }) => job === chosen);
  const choose = (to: number) => {
    const element = frame.current;
    const index = Math.max(0, Math.min(rows.length - 1, to));
    const job = rows[index];
    if (!job || !element) return;
    setChosen(job.job);
    const head = element.querySelector('thead')?.offsetHeight ?? 0;
    const top = index * rowHeight;
    if (top < element.scrollTop) element.scrollTop = top;
    const room = element.clientHeight - head - rowHeight;
    if (top > element.scrollTop + room) element.scrollTop = top - room;
    measure();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || (event.target as HTMLElement).closest('thead')) return;
    const page = Math.max(1, Math.floor(scroll.height / rowHeight) - 2);
    const steps: Record<string, number> = {
      j: at + 1, ArrowDown: at + 1, k: at < 0 ? 0 : at - 1, ArrowUp: at < 0 ? 0 : at - 1,
      PageDown: at + page, PageUp: at - page, Home: 0, End: rows.length - 1,
    };
    const to = steps[event.key];
    if (to !== undefined) choose(to);
    else if (event.key === 'Enter' && at >= 0 && event.target === frame.current) {
      location.hash = jobHash(rows[at]!.job);
    } else return;
    event.preventDefault();
  };
  return (
    <div class="scroll jobs-scroll queue-window" ref={frame} tabIndex={0} role="region" onScroll={measure}
      aria-label="Jobs in the queue" onKeyDown={onKeyDown}
      aria-activedescendant={at >= first && at < end ? `job-${chosen}` : undefined}>
      <table class="jobs queue" aria-rowcount={rows.length + 1}>
        <Heads rows={rows} order={order} onSort={onSort} />
        <tbody>
          {first > 0 && <tr class="spacer" style={{ height: `${first * rowHeight}px` }} />}
          {shown.map((job, i) => (
            <Row key={job.job} job={job} row={first + i} chosen={job.job === chosen} nowS={nowS}
              reason={reasons.get(job.job)} onChoose={() => setChosen(job.job)} />
          ))}
          {end < rows.length && <tr class="spacer" style={{ height: `${(rows.length - end) * rowHeight}px` }} />}
        </tbody>
      </table>
    </div>
  );
}
