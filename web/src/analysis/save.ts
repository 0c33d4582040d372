// Saves files that the page generates.
import type { Colors } from '../charts/figure/svg';
import { HEAT_STOPS } from '../charts/HeatMap';
import { heatScale } from '../palette';
import { color } from '../theme';

export function save(name: string, type: string, text: string): void {
  const link = document.createElement('a');
  const url = URL.createObjectURL(new Blob([text], { type }));
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

/** The colours of the light theme, whatever the current theme: saved files are for print. */
export function lightColors(): Colors {
  const root = document.documentElement;
  const before = root.dataset['theme'];
  root.dataset['theme'] = 'light'; // restored before the next paint
  const stops = heatScale(HEAT_STOPS.map(color));
  const names = [...Array(7).keys()].map((i) => `--line-${i}`);
  const colors = new Map(
    [...names, '--text', '--muted', '--grid', '--border', '--surface'].map((name) => [name, color(name)]));
  if (before === undefined) delete root.dataset['theme'];
  else root.dataset['theme'] = before;
  return {
    of: (paint) => (paint === 'none' ? 'none' : (colors.get(paint) ?? '#000000')),
    heat: (share) => {
      const at = 4 * Math.round(100 * Math.max(0, Math.min(1, share)));
      return `#${[...stops.slice(at, at + 3)].map((part) => part.toString(16).padStart(2, '0')).join('')}`;
    },
  };
}
