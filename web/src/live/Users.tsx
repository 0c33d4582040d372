// The table of users: running and waiting jobs, GPUs, GPU-hours.
import { useMemo, useState } from 'preact/hooks';
import { count, decimal } from '../format';
import { SortHead, sortState } from '../SortHead';
import { AreaHead, Empty } from './Parts';
import { queueHash } from './route';
import { useStore } from './useStore';
import { type UserRow, usersOf } from './users';

const COLUMNS: readonly { key: keyof UserRow; head: string; text: (row: UserRow) => string }[] = [
  { key: 'running', head: 'Running', text: (row) => count(row.running) },
  { key: 'gpus', head: 'GPUs', text: (row) => count(row.gpus) },
  { key: 'waiting', head: 'Waiting', text: (row) => count(row.waiting) },
  { key: 'waitingGpus', head: 'GPUs requested', text: (row) => count(row.waitingGpus) },
  { key: 'blocked', head: 'Held or dependent', text: (row) => count(row.blocked) },
  { key: 'done', head: 'Finished', text: (row) => count(row.done) },
  { key: 'gpuHours', head: 'GPU-hours', text: (row) => decimal(row.gpuHours, row.gpuHours < 10 ? 2 : 0) },
];

function sorted(rows: UserRow[], key: keyof UserRow, descending: boolean): UserRow[] {
  const sign = descending ? -1 : 1;
  return [...rows].sort((a, b) => {
    const [left, right] = [a[key], b[key]];
    return left === right ? 0 : left < right ? -sign : sign;
  });
}

export function Users() {
  const store = useStore();
  const rows = useMemo(() => usersOf(store.jobs.values(), store.nowS()), [store.version]);
  const [order, setOrder] = useState<{ key: keyof UserRow; descending: boolean }>({
    key: 'gpuHours', descending: true,
  });
  const next = (key: keyof UserRow) =>
    setOrder({ key, descending: order.key === key ? !order.descending : key !== 'user' });
  const head = (key: keyof UserRow, text: string) => (
    <SortHead key={key} text={text} class={key === 'user' ? '' : 'number'} state={sortState(order, key)}
      onSort={() => next(key)} />
  );
  return (
    <>
      <AreaHead title="Users" />
      <p class="how">
        Covers the jobs that the daemon still holds, recently finished ones included. goban history has
        the others. A name links to the jobs of that user.
      </p>
      {rows.length === 0
        ? <Empty command="goban submit --wrap 'python train.py' --gpus 1">There are no jobs yet.</Empty>
        : (
          <div class="scroll jobs-scroll" tabIndex={0} role="region" aria-label="Users">
            <table class="jobs users">
              <thead>
                <tr>
                  {head('user', 'User')}
                  {COLUMNS.map((column) => head(column.key, column.head))}
                </tr>
              </thead>
              <tbody>
                {sorted(rows, order.key, order.descending).map((row) => (
                  <tr key={row.user}>
                    <th scope="row">
                      <a href={queueHash({ state: 'all', user: row.user, text: '' })}>{row.user}</a>
                    </th>
                    {COLUMNS.map((column) => <td key={column.key} class="number">{column.text(row)}</td>)}
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
    </>
  );
}
