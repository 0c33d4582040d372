// Light or dark theme: the system preference until the reader chooses. Printing is always light.
import { useEffect, useState } from 'preact/hooks';

type Theme = 'light' | 'dark';

const listeners = new Set<() => void>();
const prefersDark = matchMedia('(prefers-color-scheme: dark)');
let chosen: Theme | null = null;
let printing = false;

function currentTheme(): Theme {
  if (printing) return 'light';
  return chosen ?? (prefersDark.matches ? 'dark' : 'light');
}

function apply(): void {
  document.documentElement.dataset['theme'] = currentTheme();
  for (const listener of listeners) listener();
}

function setPrinting(value: boolean): void {
  printing = value;
  apply();
}

export function startTheme(): void {
  prefersDark.addEventListener('change', apply);
  addEventListener('beforeprint', () => setPrinting(true));
  addEventListener('afterprint', () => setPrinting(false));
  apply();
}

export function toggleTheme(): void {
  chosen = currentTheme() === 'dark' ? 'light' : 'dark';
  apply();
}

/** Calls `listener` when the colours change, for charts on a canvas. Returns a function that unsubscribes. */
export function onThemeChange(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

export function useTheme(): Theme {
  const [theme, setTheme] = useState(currentTheme());
  useEffect(() => onThemeChange(() => setTheme(currentTheme())), []);
  return theme;
}

/** The value of a colour variable of the style sheet, such as "--muted". */
export function color(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
