// A row of radio buttons.
import type { ComponentChildren } from 'preact';
import { Swatch } from './Swatch';

export interface ChoiceProps {
  label: string;
  name: string;
  options: readonly string[];
  chosen: number;
  onChoose: (option: number) => void;
  /** The options are the policies. */
  swatches?: boolean;
  /** The label is for screen readers only. */
  labelHidden?: boolean;
  /** More controls in the same row. */
  children?: ComponentChildren;
}

export function Choice(props: ChoiceProps) {
  const { label, name, options, chosen, onChoose, swatches, labelHidden, children } = props;
  return (
    <fieldset class="choice">
      <legend class={labelHidden ? 'visually-hidden' : undefined}>{label}</legend>
      {options.map((option, i) => (
        <label key={option}>
          <input type="radio" name={name} checked={i === chosen} onChange={() => onChoose(i)} />
          <span>{swatches && <><Swatch run={i} /> </>}{option}</span>
        </label>
      ))}
      {children}
    </fieldset>
  );
}
