// The dashboard of `goban serve`: the header and the current view.
import { useEffect, useRef, useState } from 'preact/hooks';
import { count } from '../format';
import { Api, takeToken } from './api';
import { ClusterMap } from './ClusterMap';
import { History } from './History';
import { JobPage } from './JobPage';
import { KeyHelp } from './KeyHelp';
import { LiveHeader } from './LiveHeader';
import { NewJob } from './NewJob';
import { OverviewPage } from './OverviewPage';
import { Policies } from './Policies';
import { Queue } from './Queue';
import { AREAS, parseRoute, type Route } from './route';
import type { LiveFacts } from './shapes';
import { SignIn } from './SignIn';
import { LiveStore } from './store';
import { Users } from './Users';
import { LiveContext, useStore } from './useStore';
import { WhatIf } from './WhatIf';

function useRoute(): Route {
  const [route, setRoute] = useState(parseRoute(location.hash));
  useEffect(() => {
    const change = () => setRoute(parseRoute(location.hash));
    addEventListener('hashchange', change);
    return () => removeEventListener('hashchange', change);
  }, []);
  return route;
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches('input, select, textarea');
}

/** What gets the focus in the view that is rendered next, instead of its heading. */
let focusNext = '';

/** Keyboard shortcuts of the whole page. Lists have their own. */
function useKeys(route: Route, showHelp: () => void): void {
  // Read at each key press, because effects run only after the new view is painted.
  const now = useRef({ route, showHelp });
  now.current = { route, showHelp };
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      if (document.querySelector('dialog[open]')) return;
      const { route, showHelp } = now.current;
      if (event.key === 'Escape') {
        if (isTyping(event.target)) (event.target as HTMLElement).blur();
        else if (route.area === 'job') history.length > 1 ? history.back() : (location.hash = '#/queue');
        return;
      }
      if (isTyping(event.target)) return;
      const area = AREAS[Number(event.key) - 1];
      if (event.key === '?') showHelp();
      else if (area) location.hash = `#/${area}`;
      else if (event.key === '/') {
        event.preventDefault();
        if (route.area === 'queue') {
          document.querySelector<HTMLElement>('#queue-search')?.focus();
        } else {
          focusNext = '#queue-search';
          location.hash = '#/queue';
        }
      } else if ((event.key === 'j' || event.key === 'k') && route.area === 'queue') {
        document.querySelector<HTMLElement>('.queue-window')?.focus();
      }
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
}

function AreaOf({ route }: { route: Route }) {
  switch (route.area) {
    case 'overview': return <OverviewPage />;
    case 'cluster': return <ClusterMap />;
    case 'queue': return <Queue filter={route.filter} />;
    case 'job': return <JobPage key={route.job} job={route.job} />;
    case 'history': return <History />;
    case 'users': return <Users />;
    case 'policies': return <Policies />;
    case 'whatif': return <WhatIf />;
    case 'submit': return <NewJob key={route.from} from={route.from} />;
  }
}

/** Views that show nothing until all jobs are known. */
const NEEDS_JOBS: ReadonlySet<Route['area']> = new Set(['cluster', 'queue', 'job', 'users']);

function Body({ route }: { route: Route }) {
  const store = useStore();
  const main = useRef<HTMLElement>(null);
  const title = route.area === 'job' ? `job ${route.job}` : route.area;
  const first = useRef(true);
  useEffect(() => {
    const running = store.stats?.jobs.running;
    const site = store.cluster ? ` – ${store.cluster.name}` : '';
    document.title = `${title}${running ? ` (${count(running)} running)` : ''}${site} – Goban`;
  });
  useEffect(() => {
    // Screen readers announce the heading of the new view.
    if (!first.current) main.current?.querySelector<HTMLElement>(focusNext || 'h2')?.focus({ preventScroll: true });
    first.current = false;
    focusNext = '';
    scrollTo(0, 0);
  }, [route.area, route.job]);
  return (
    <main ref={main} id="area" class="live-area">
      {store.connection.state === 'refused' ? <SignIn why={store.connection.why} />
        : store.ready || !NEEDS_JOBS.has(route.area) ? <AreaOf route={route} />
          : <p class="loading">Loading…</p>}
    </main>
  );
}

export function Live({ facts }: { facts: LiveFacts }) {
  const [store] = useState(() => {
    const api = new Api();
    const token = takeToken();
    if (token) api.setToken(token);
    const made = new LiveStore(api);
    made.start();
    return made;
  });
  const route = useRoute();
  const [help, setHelp] = useState(false);
  useKeys(route, () => setHelp(true));
  return (
    <LiveContext.Provider value={{ store, facts }}>
      <a class="skip" href="#area" onClick={(event) => {
        event.preventDefault();
        document.querySelector<HTMLElement>('#area h2')?.focus();
      }}>
        Skip to the content
      </a>
      <LiveHeader area={route.area} onHelp={() => setHelp(true)} />
      <Body route={route} />
      {help && <KeyHelp onClose={() => setHelp(false)} />}
    </LiveContext.Provider>
  );
}
