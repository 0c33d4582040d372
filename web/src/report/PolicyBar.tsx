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
export function PolicyChoice({ policies, ...rest }: PolicyChoiceProps) {
  return <Choice {...rest} options={policies} swatches />;
}

export interface ChoiceProps {
  label: string;
  name: string;
  options: string[];
  chosen: number;
  onChoose: (option: number) => void;
  /** The options are the policies. */
  swatches?: boolean;
}

/** One option of all. */
export function Choice({ label, name, options, chosen, onChoose, swatches }: ChoiceProps) {
  return (
    <fieldset class="choice">
      <legend>{label}</legend>
      {options.map((option, i) => (
        <label key={option}>
          <input type="radio" name={name} checked={i === chosen} onChange={() => onChoose(i)} />
          <span>
            {swatches && <Swatch run={i} />} {option}
          </span>
        </label>
      ))}
    </fieldset>
  );
}
