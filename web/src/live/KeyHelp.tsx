// The keys, in a dialog.
import { Dialog } from './Dialog';

const KEYS: readonly [string, string][] = [
  ['/', 'search the queue'],
  ['j, k or ↓, ↑', 'next or previous job of the queue'],
  ['Enter', 'open the job'],
  ['Esc', 'back, or leave a field or dialog'],
  ['arrow keys', 'from GPU to GPU in the cluster map'],
  ['1 to 5', 'cluster, queue, users, policies, what if'],
  ['?', 'these keys'],
];

export function KeyHelp({ onClose }: { onClose: () => void }) {
  return (
    <Dialog label="Keys" onClose={onClose}>
      <h2>Keys</h2>
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
