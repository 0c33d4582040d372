// The what-if form: replays recent jobs under other policies.
import { useState } from 'preact/hooks';
import { errorText } from './api';
import { AreaHead, Empty, Problem } from './Parts';
import { useLive } from './useStore';
import { answerTable } from './what_if';

export function WhatIf() {
  const { facts } = useLive();
  return (
    <>
      <AreaHead title="What-if" />
      {facts.what_if ? <Question /> : (
        <Empty command={'goban simulate --help'}>
          This daemon does not offer what-if replays. The simulator replays recorded jobs under any
          policy and writes a report.
        </Empty>
      )}
    </>
  );
}

function Question() {
  const { facts, store } = useLive();
  const [chosen, setChosen] = useState<string[]>([facts.policy]);
  const [days, setDays] = useState(7);
  const [state, setState] = useState<{ busy: boolean; error: string; answer: unknown }>({
    busy: false, error: '', answer: null,
  });
  const toggle = (name: string) =>
    setChosen(chosen.includes(name) ? chosen.filter((each) => each !== name) : [...chosen, name]);
  const ask = async (event: SubmitEvent) => {
    event.preventDefault();
    setState({ busy: true, error: '', answer: null });
    try {
      setState({ busy: false, error: '', answer: await store.api.whatIf(chosen, days) });
    } catch (error) {
      setState({ busy: false, error: errorText(error), answer: null });
    }
  };
  const table = state.answer === null ? null : answerTable(state.answer);
  return (
    <>
      <form class="panel what-if" onSubmit={(event) => void ask(event)}>
        <label>
          Replay the last
          <input type="number" min="1" max="365" required value={days}
            onInput={(event) => setDays(event.currentTarget.valueAsNumber || 1)} />
          days under
        </label>
        <fieldset class="what-if-policies">
          <legend class="visually-hidden">Policies</legend>
          {facts.policies.map(({ name }) => (
            <label key={name}>
              <input type="checkbox" checked={chosen.includes(name)} onChange={() => toggle(name)} /> {name}
            </label>
          ))}
        </fieldset>
        <button type="submit" disabled={state.busy || chosen.length === 0}>
          {state.busy ? 'Replaying…' : 'Replay'}
        </button>
      </form>
      <Problem text={state.error} />
      {table && (
        <div class="scroll jobs-scroll" tabIndex={0} role="region" aria-label="Result">
          <table class="jobs">
            <thead>
              <tr>{table.heads.map((head) => <th key={head} scope="col">{head}</th>)}</tr>
            </thead>
            <tbody>
              {table.rows.map((row, i) => (
                <tr key={i}>{row.map((cell, j) => <td key={j}>{cell}</td>)}</tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </>
  );
}
