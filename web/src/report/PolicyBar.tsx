// The legend of all charts; it shows and hides policies.
import { Choice, type ChoiceProps } from '../Choice';
import { Swatch } from '../Swatch';

interface PolicyBarProps {
  policies: string[];
  visible: boolean[];
  onToggle: (run: number) => void;
}

export function PolicyBar({ policies, visible, onToggle }: PolicyBarProps) {
  return (
    <div class="policy-bar" role="group" aria-label="Policies shown in the charts">
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

/** Radio buttons for one policy. */
export function PolicyChoice({ policies, ...rest }: Omit<ChoiceProps, 'options'> & { policies: string[] }) {
  return <Choice {...rest} options={policies} swatches />;
}
