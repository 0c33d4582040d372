// Legend swatch of a policy: its line colour and dash pattern.
import { lineColor, lineDash } from './palette';

export function Swatch({ run }: { run: number }) {
  return (
    <svg class="swatch" width="26" height="10" aria-hidden="true">
      <line x1="1" y1="5" x2="25" y2="5" stroke={`var(${lineColor(run)})`} stroke-width="3"
        stroke-dasharray={lineDash(run).join(' ')} />
    </svg>
  );
}
