// One page of the job table. Column headers sort; arrow keys move between rows and pages.
import { useEffect, useRef, useState } from 'preact/hooks';
import { ENDS, nameAt, type SortKey } from '../data/jobs';
import { classLetter, clock, count, duration } from '../format';
import { SortHead, sortState } from '../SortHead';
import type { JobData } from './job_data';

interface Column {
  key: SortKey;
  head: string;
  number?: boolean;
  cell: (data: JobData, job: number) => string;
}

const COLUMNS: readonly Column[] = [
  { key: 'name', head: 'Job', cell: ({ requests }, job) => requests.names[job] ?? '' },
  { key: 'user', head: 'User', cell: ({ requests: r }, job) => nameAt(r.users, r.user[job]) },
  { key: 'model', head: 'Model', cell: ({ requests: r }, job) => nameAt(r.models, r.model[job]) },
  { key: 'class', head: 'Class', cell: ({ requests }, job) => classLetter(requests.appClass[job]!) },
  { key: 'gpus', head: 'GPUs', number: true, cell: ({ requests }, job) => count(requests.gpus[job]!) },
  { key: 'submit', head: 'Submit', number: true, cell: ({ requests }, job) => clock(requests.submit[job]!) },
  { key: 'start', head: 'Start', number: true, cell: ({ outcomes }, job) => clock(outcomes.start[job]!) },
  { key: 'finish', head: 'Finish', number: true, cell: ({ outcomes }, job) => clock(outcomes.finish[job]!) },
  { key: 'jct', head: 'JCT', number: true, cell: ({ outcomes }, job) => duration(outcomes.jct[job]!) },
  { key: 'wait', head: 'Wait', number: true, cell: ({ outcomes }, job) => duration(outcomes.wait[job]!) },
  { key: 'preemptions', head: 'Preemptions', number: true, cell: ({ outcomes }, job) => count(outcomes.preemptions[job]!) },
  { key: 'end', head: 'Outcome', cell: ({ outcomes }, job) => ENDS[outcomes.end[job]!] ?? '' },
];

interface JobTableProps {
  data: JobData;
  jobs: Uint32Array;
  sort: { key: SortKey; descending: boolean };
  onSort: (key: SortKey) => void;
  chosen: number | null;
  onChoose: (job: number) => void;
  /** Moves one page forward (1) or back (-1). */
  onPage: (by: number) => void;
}

function Head({ sort, onSort }: Pick<JobTableProps, 'sort' | 'onSort'>) {
  return (
    <thead>
      <tr>
        {COLUMNS.map(({ key, head, number }) => (
          <SortHead key={key} text={head} class={number ? 'number' : ''} state={sortState(sort, key)}
            onSort={() => onSort(key)} />
        ))}
      </tr>
    </thead>
  );
}

export function JobTable(props: JobTableProps) {
  const { data, jobs, chosen, onChoose } = props;
  const body = useRef<HTMLTableSectionElement>(null);
  const [active, setActive] = useState(0);
  const [follow, setFollow] = useState(false);
  const last = jobs.length - 1;
  const row = Math.max(0, Math.min(active, last));

  useEffect(() => {
    if (!follow) return;
    setFollow(false);
    body.current?.rows[row]?.focus();
  }, [follow, row, jobs]);

  const turnPage = (by: number, to: number) => {
    props.onPage(by);
    setActive(to);
    setFollow(true);
  };
  /** Moves the focus immediately, because keys may arrive faster than the table renders. */
  const go = (to: number) => {
    if (to < 0) turnPage(-1, Infinity);
    else if (to > last) turnPage(1, 0);
    else body.current?.rows[to]?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const at = [...(body.current?.rows ?? [])].findIndex((tr) => tr === document.activeElement);
    const keys: Record<string, () => void> = {
      ArrowDown: () => go(at + 1),
      ArrowUp: () => go(at - 1),
      Home: () => go(0),
      End: () => go(last),
      PageDown: () => turnPage(1, at),
      PageUp: () => turnPage(-1, at),
      Enter: () => onChoose(jobs[at]!),
      ' ': () => onChoose(jobs[at]!),
    };
    const action = keys[event.key];
    if (!action || at < 0 || jobs.length === 0) return;
    event.preventDefault();
    action();
  };
  return (
    <div class="scroll jobs-scroll">
      <table class="jobs" aria-label="Jobs">
        <Head sort={props.sort} onSort={props.onSort} />
        <tbody ref={body} onKeyDown={onKeyDown}>
          {[...jobs].map((job, i) => (
            <tr key={job} tabIndex={i === row ? 0 : -1} class={job === chosen ? 'chosen' : ''}
              aria-selected={job === chosen} onFocus={() => setActive(i)}
              onClick={() => onChoose(job)}>
              {COLUMNS.map((column) => {
                const text = column.cell(data, job);
                return (
                  <td key={column.key} class={column.number ? 'number' : 'text'} title={text}>
                    {text}
                  </td>
                );
              })}
            </tr>
          ))}
          {jobs.length === 0 && (
            <tr>
              <td class="empty" colSpan={COLUMNS.length}>No jobs match these filters.</td>
            </tr>
          )}
        </tbody>
      </table>
    </div>
  );
}
