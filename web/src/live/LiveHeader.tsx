// The header of the dashboard: cluster name, current totals, connection state, navigation.
import { Brand } from '../Brand';
import { count } from '../format';
import { ThemeButton } from '../ThemeButton';
import { agoText, shortDuration } from './clock';
import { holdsGpus } from './queue';
import { AREAS, type Area, type Route } from './route';
import type { JobState } from './shapes';
import { useLive, useNow, useStore } from './useStore';

const NAMES: Record<Area, string> = {
  overview: 'Overview', cluster: 'Cluster', queue: 'Queue', history: 'History', users: 'Users',
  policies: 'Policies', whatif: 'What-if', submit: 'New job',
};

function ConnectionLine() {
  const store = useStore();
  const now = useNow();
  const { connection } = store;
  if (connection.state === 'lost') {
    const wait = Math.max(0, Math.ceil((connection.retryAtMs - Date.now()) / 1000));
    return (
      <p class="connection" data-state="lost">
        <span role="alert">Connection lost, reconnecting: {connection.why}.</span>
        {wait > 0 && ` Next attempt in ${shortDuration(wait)}. `}
        <button type="button" onClick={() => store.reconnect()}>Reconnect now</button>
      </p>
    );
  }
  const words = {
    connecting: 'Connecting…', refused: 'Not signed in',
    live: store.changedS > 0 ? `Live · last change ${agoText(store.changedS, now)}` : 'Live',
  }[connection.state];
  return (
    <p class="connection" data-state={connection.state}>
      <i class="dot" aria-hidden="true" /> {words}
    </p>
  );
}

function Figures() {
  const store = useStore();
  const { policy } = useLive().facts;
  let running = 0;
  let waiting = 0;
  if (store.ready) {
    for (const job of store.jobs.values()) {
      if (holdsGpus(job)) running++;
      else if (job.state !== 'done') waiting++;
    }
  } else {
    const of = (...states: JobState[]) => states.reduce((sum, state) => sum + (store.stats?.jobs[state] ?? 0), 0);
    running = of('starting', 'running', 'suspended', 'stopping');
    waiting = of('held', 'depends', 'waiting');
  }
  const all = store.cluster?.num_gpus ?? 0;
  const held = (store.cluster?.racks ?? []).reduce(
    (sum, rack) => sum + rack.nodes.reduce((part, node) => part + node.held_gpus, 0), 0);
  if (!store.ready && !store.stats) return <p class="facts">&nbsp;</p>;
  return (
    <>
      <p class="facts">
        {count(held)} of {count(all)} GPUs held · {count(running)} running · {count(waiting)} waiting ·
        policy {policy}
      </p>
      {store.stats?.journal_is_stuck && (
        <p class="note error" role="alert">
          The journal cannot be written. No job starts until its disk has free space.
        </p>
      )}
    </>
  );
}

export function LiveHeader({ area, onHelp }: { area: Route['area']; onHelp: () => void }) {
  const store = useStore();
  return (
    <header class="top live-top">
      <div class="top-row">
        <Brand product={store.cluster?.name ?? 'live'} />
        <div class="top-buttons">
          <button type="button" onClick={onHelp} aria-label="Keyboard shortcuts">?</button>
          <ThemeButton />
        </div>
      </div>
      <h1 class="visually-hidden">Goban on {store.cluster?.name ?? 'this cluster'}</h1>
      <Figures />
      <ConnectionLine />
      <nav aria-label="Sections of the dashboard">
        {AREAS.map((each) => (
          <a key={each} href={`#/${each}`}
            aria-current={each === area || (each === 'queue' && area === 'job') ? 'page' : undefined}>
            {NAMES[each]}
          </a>
        ))}
      </nav>
    </header>
  );
}
