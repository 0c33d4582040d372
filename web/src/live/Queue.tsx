// The queue: filters and the list of jobs.
import { useMemo, useState } from 'preact/hooks';
import { count } from '../format';
import { AreaHead, Empty } from './Parts';
import {
  filterQueue, type QueueFilter, type QueueKey, type QueueOrder, sortQueue, STATES,
} from './queue';
import { QueueList } from './QueueList';
import { queueHash } from './route';
import { useStore } from './useStore';

const STATE_NAMES: Record<string, string> = {
  active: 'Unfinished', all: 'All', running: 'Running', starting: 'Starting', stopping: 'Stopping',
  waiting: 'Waiting', depends: 'Dependent', held: 'Held', done: 'Finished',
};

/** Whether the first click sorts in descending order: numbers do, names and positions do not. */
function firstDescending(key: QueueKey): boolean {
  return key === 'num_gpus' || key === 'priority' || key === 'time';
}

function Filters({ filter, users }: { filter: QueueFilter; users: string[] }) {
  const change = (part: Partial<QueueFilter>) => {
    // Typing must not add entries to the browser history.
    history.replaceState(null, '', queueHash({ ...filter, ...part }));
    dispatchEvent(new HashChangeEvent('hashchange'));
  };
  return (
    <form class="filters" onSubmit={(event) => event.preventDefault()} role="search">
      <label class="grow">
        Search
        <input id="queue-search" type="search" value={filter.text} placeholder="number, name, user…"
          aria-keyshortcuts="/" onInput={(event) => change({ text: event.currentTarget.value })} />
      </label>
      <label>
        State
        <select value={filter.state} onChange={(event) => change({ state: event.currentTarget.value })}>
          {['active', 'all', ...STATES].map((state) => (
            <option key={state} value={state}>{STATE_NAMES[state]}</option>
          ))}
        </select>
      </label>
      <label>
        User
        <select value={filter.user} onChange={(event) => change({ user: event.currentTarget.value })}>
          <option value="">All users</option>
          {users.map((user) => <option key={user} value={user}>{user}</option>)}
        </select>
      </label>
    </form>
  );
}

export function Queue({ filter }: { filter: QueueFilter }) {
  const store = useStore();
  const [order, setOrder] = useState<QueueOrder>({ key: 'state', descending: false });
  const users = useMemo(
    () => [...new Set([...store.jobs.values()].map(({ user }) => user))].sort(), [store.version]);
  const rows = useMemo(
    () => sortQueue(filterQueue(store.jobs.values(), filter), order, store.nowS()),
    [store.version, store.jobs, filter.state, filter.user, filter.text, order]);
  const sort = (key: QueueKey) =>
    setOrder({ key, descending: order.key === key ? !order.descending : firstDescending(key) });
  const shownUsers = filter.user === '' || users.includes(filter.user) ? users : [filter.user, ...users];
  return (
    <>
      <AreaHead title="Queue" />
      <Filters filter={filter} users={shownUsers} />
      <p class="table-count" aria-live="polite">
        {count(rows.length)} of {count(store.jobs.size)} jobs
      </p>
      {rows.length > 0 ? <QueueList rows={rows} order={order} onSort={sort} />
        : store.jobs.size === 0 ? (
          <Empty command="goban submit --wrap 'python train.py' --gpus 1">
            There are no jobs yet. Submit the first one:
          </Empty>
        ) : <Empty>No jobs match these filters.</Empty>}
    </>
  );
}
