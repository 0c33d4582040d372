// The legend of all pictures: shows and hides policies.
import { Swatch } from './Swatch';

export interface PolicyBarProps {
  policies: string[];
  visible: boolean[];
  onToggle: (run: number) => void;
}

export function PolicyBar({ policies, visible, onToggle }: PolicyBarProps) {
  return (
    <div class="policy-bar" role="group" aria-label="Policies shown in the pictures">
      {policies.map((policy, run) => (
        <button key={policy} type="button" class="policy" aria-pressed={visible[run] ?? false}
          title={visible[run] ? `Hide ${policy}` : `Show ${policy}`} onClick={() => onToggle(run)}>
          <Swatch run={run} />
          {policy}
        </button>
      ))}
    </div>
  );
}

export interface PolicyChoiceProps {
  label: string;
  name: string;
  policies: string[];
  chosen: number;
  onChoose: (run: number) => void;
}

/** One policy of all. */
export function PolicyChoice({ label, name, policies, chosen, onChoose }: PolicyChoiceProps) {
  return (
    <fieldset class="choice">
      <legend>{label}</legend>
      {policies.map((policy, run) => (
        <label key={policy}>
          <input type="radio" name={name} checked={run === chosen} onChange={() => onChoose(run)} />
          <span>
            <Swatch run={run} /> {policy}
          </span>
        </label>
      ))}
    </fieldset>
  );
}
