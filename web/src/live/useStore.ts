// Hooks for the store, the daemon's clock, and API requests.
import { createContext } from 'preact';
import { useContext, useEffect, useReducer, useState } from 'preact/hooks';
import { ApiError, errorText } from './api';
import type { LiveFacts } from './shapes';
import type { LiveStore } from './store';

export interface Live {
  store: LiveStore;
  facts: LiveFacts;
}

export const LiveContext = createContext<Live | null>(null);

export function useLive(): Live {
  return useContext(LiveContext)!;
}

/** The store. The component renders again after each change. */
export function useStore(): LiveStore {
  const { store } = useLive();
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  useEffect(() => store.subscribe(() => redraw(undefined)), [store]);
  return store;
}

/** The daemon's clock in seconds since 1970, updated every second. */
export function useNow(): number {
  const { store } = useLive();
  const [now, setNow] = useState(store.nowS());
  useEffect(() => {
    const timer = setInterval(() => setNow(store.nowS()), 1000);
    return () => clearInterval(timer);
  }, [store]);
  return now;
}

interface Requested<T> {
  value: T | null;
  /** Error as text; empty if there is none. */
  error: string;
  /** HTTP status; 0 without a response. */
  status: number;
}

/** Sends a request whenever `keys` change. The last value stays until the next one arrives. */
export function useRequest<T>(send: () => Promise<T>, keys: readonly unknown[]): Requested<T> {
  const [requested, setRequested] = useState<Requested<T>>({ value: null, error: '', status: 0 });
  useEffect(() => {
    let wanted = true;
    send().then(
      (value) => wanted && setRequested({ value, error: '', status: 200 }),
      (error: unknown) => wanted && setRequested((before) => ({
        value: before.value, error: errorText(error), status: error instanceof ApiError ? error.status : 0,
      })),
    );
    return () => void (wanted = false);
  }, keys);
  return requested;
}
