// The dialog with the keyboard shortcuts.
import { Dialog } from './Dialog';

const KEYS: readonly [string, string][] = [
  ['/', 'search the queue'],
  ['j, k or ↓, ↑', 'next or previous job in the queue'],
  ['Enter', 'open the job'],
  ['Esc', 'go back, or leave a field or dialog'],
  ['arrow keys', 'move between GPUs in the cluster map'],
  ['1 to 8', 'overview, cluster, queue, history, users, policies, what-if, new job'],
  ['?', 'this list'],
];

export function KeyHelp({ onClose }: { onClose: () => void }) {
  return (
    <Dialog label="Keyboard shortcuts" onClose={onClose}>
      <h2>Keyboard shortcuts</h2>
      <dl class="key-list">
        {KEYS.map(([key, text]) => (
          <div key={key}>
            <dt><kbd>{key}</kbd></dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
      <div class="dialog-buttons">
        <button type="button" onClick={onClose}>Close</button>
      </div>
    </Dialog>
  );
}
