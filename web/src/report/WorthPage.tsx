// One page for whoever approves budgets: what the policies are worth a year against the reference.
import type { ComponentChildren } from 'preact';
import type { ReportDocument } from '../data/document';
import { type Estimate, findingOf, mostSaving, type Pilot, type PolicyWorth, type Worth } from '../data/worth';
import { count, decimal, duration, percent } from '../format';
import { Section } from './Section';

/** 12345.6 -> "12,346", 1.234 -> "1.23". */
function amount(value: number): string {
  const size = Math.abs(value);
  const digits = size === 0 || size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 4;
  return decimal(value === 0 ? 0 : value, digits).replace('-', '−');
}

function durationChange(seconds: number): string {
  return `${seconds < 0 ? '−' : '+'}${duration(Math.abs(seconds))}`;
}

function Range({ of, text }: { of: Estimate; text: (value: number) => string }) {
  if (of.low === null || of.high === null) return <small>no interval</small>;
  return <small>{text(of.low)} to {text(of.high)}</small>;
}

function pilotText(worth: Worth, pilot: Pilot): string {
  if (pilot.days !== null) return `${count(pilot.days)} days`;
  return worth.pilot_days < 2 ? 'unknown: no two whole days' : 'no effect to show';
}

/** What the saving costs, or gains, in waiting. */
function Waiting({ best }: { best: PolicyWorth }) {
  const change = best.wait_change_s;
  if (!change) return null;
  const longer = change.value > 0;
  return (
    <>
      {' '}
      Jobs wait{' '}
      <b class={longer ? 'loss' : 'gain'}>
        {duration(Math.abs(change.value))} {longer ? 'longer' : 'less'}
      </b>{' '}
      on average ({duration(best.avg_wait_s)})
      {change.low !== null && change.high !== null &&
        `, interval ${durationChange(change.low)} to ${durationChange(change.high)}`}
      .
    </>
  );
}

function Answer({ worth, reference }: { worth: Worth; reference: string }) {
  const best = mostSaving(worth);
  if (!best?.saving) {
    return <p class="answer">There is one policy only, so there is nothing to compare.</p>;
  }
  const { saving } = best;
  const money = (value: number) => `${amount(value)} ${worth.currency}`;
  const interval =
    saving.low === null || saving.high === null ? '' : ` (95 % interval ${money(saving.low)} to ${money(saving.high)})`;
  const finding = findingOf(saving);
  return (
    <p class="answer">
      {finding === 'saves' && (
        <>
          <b>{best.policy}</b> saves <b class="gain">{money(saving.value)} a year</b>
          {interval} against {reference}.
        </>
      )}
      {finding === 'costs' && (
        <>
          No policy saves money against <b>{reference}</b>: {best.policy} costs{' '}
          <b class="loss">{money(-saving.value)} a year more</b>
          {saving.low !== null && saving.high !== null &&
            ` (95 % interval ${money(-saving.high)} to ${money(-saving.low)})`}
          .
        </>
      )}
      {finding === 'not shown' && (
        <>
          No saving against <b>{reference}</b> is shown: {best.policy} saves {money(saving.value)} a year
          {interval}.
        </>
      )}
      {finding === 'no interval' && (
        <>
          <b>{best.policy}</b> saves {money(saving.value)} a year against {reference} in this history; without
          intervals it is not known whether another history would show it.
        </>
      )}
      <Waiting best={best} />
    </p>
  );
}

interface Row {
  label: string;
  meaning?: string;
  there: boolean;
  cell: (policy: PolicyWorth) => ComponentChildren;
}

function estimated(of: Estimate | undefined, text: (value: number) => string): ComponentChildren {
  if (!of) return '–';
  return (
    <>
      {text(of.value)}
      <Range of={of} text={text} />
    </>
  );
}

function rowsOf(worth: Worth): Row[] {
  const some = (key: keyof PolicyWorth) => worth.policies.some((policy) => policy[key] !== undefined);
  const rows: Row[] = [
    { label: `Cost, ${worth.currency}`, meaning: 'electricity and GPU-hours', there: true,
      cell: ({ cost }) => amount(cost) },
    { label: `Saving, ${worth.currency}`, there: some('saving'), cell: ({ saving }) => estimated(saving, amount) },
    { label: 'of it electricity', there: some('electricity_saving'),
      cell: (policy) => estimated(policy.electricity_saving, amount) },
    { label: 'of it GPU-hours', meaning: `at ${amount(worth.gpu_hour_rate)} ${worth.currency} each`,
      there: some('gpu_saving') && worth.gpu_hour_rate > 0, cell: (policy) => estimated(policy.gpu_saving, amount) },
    { label: 'Energy saved, kWh', there: some('kwh_saved'), cell: (policy) => estimated(policy.kwh_saved, amount) },
    { label: 'Carbon saved, kg CO₂e', there: some('carbon_kg_saved'),
      cell: (policy) => estimated(policy.carbon_kg_saved, amount) },
    { label: 'GPU-hours freed', there: some('gpu_hours_freed'),
      cell: (policy) => (
        <>
          {estimated(policy.gpu_hours_freed, amount)}
          {policy.gpus_freed !== undefined && worth.gpu_price !== null && (
            <small>
              {amount(policy.gpus_freed)} GPUs, {amount(policy.gpus_freed * worth.gpu_price)} {worth.currency} new
            </small>
          )}
        </>
      ) },
    { label: 'Average wait', meaning: 'and its change', there: true,
      cell: (policy) => (
        <>
          {duration(policy.avg_wait_s)}
          {policy.wait_change_s && <small>{durationChange(policy.wait_change_s.value)}</small>}
          {policy.wait_change_s && <Range of={policy.wait_change_s} text={durationChange} />}
        </>
      ) },
    { label: '99th percentile JCT', there: true,
      cell: (policy) => (
        <>
          {duration(policy.p99_jct_s)}
          {policy.p99_jct_change_s && <small>{durationChange(policy.p99_jct_change_s.value)}</small>}
        </>
      ) },
    { label: 'Worst seed', meaning: 'the resample with the lowest saving', there: some('worst_seed'),
      cell: ({ worst_seed: worst }) =>
        worst ? (
          <>
            {amount(worst.saving)} {worth.currency}
            <small>seed {worst.seed}</small>
          </>
        ) : (
          '–'
        ) },
    { label: 'Worst account', meaning: 'whose average wait grows most', there: some('worst_account'),
      cell: ({ worst_account: worst }) =>
        worst ? (
          <>
            {durationChange(worst.wait_s - worst.reference_wait_s)}
            <small>
              {worst.name || '(no name)'}: {duration(worst.wait_s)}, {count(worst.jobs)} {worst.jobs === 1 ? 'job' : 'jobs'}
            </small>
          </>
        ) : (
          '–'
        ) },
    { label: 'Deadlines missed', meaning: `of ${count(worth.deadline_jobs)}, in the history`,
      there: worth.deadline_jobs > 0, cell: (policy) => count(policy.deadline_misses) },
    { label: 'Pilot to show the cost', meaning: 'days, half under each policy', there: some('pilot'),
      cell: ({ pilot }) => (pilot ? pilotText(worth, pilot.cost) : '–') },
    { label: 'Pilot to show the wait', there: some('pilot'),
      cell: ({ pilot }) => (pilot ? pilotText(worth, pilot.wait) : '–') },
  ];
  return rows.filter(({ there }) => there);
}

/** The assumptions that a reader has to accept with the numbers. */
function Assumptions({ worth }: { worth: Worth }) {
  const lines = [
    `A year is the history of ${decimal(worth.span_s / 86400, 1)} days times ${decimal(worth.year_factor, 2)}: ` +
      'the load stays what it was.',
    worth.resamples > 1
      ? `Intervals: t × the standard deviation over ${count(worth.resamples)} histories made of the same ` +
        `${count(worth.history_days)} days, drawn with replacement and simulated under every policy.`
      : 'There are no intervals: the history is too short, or fewer than two resamples were asked for.',
    `A pilot runs both policies on days in turn. n = 7.85 (s₁² + s₂²) / d² + 0.96 days each find the ` +
      'effect d in four of five pilots (two-sided test at 5 %). s₁ and s₂ are the standard deviations ' +
      `between the ${count(worth.pilot_days)} whole days of the simulation; days are taken as independent, and no ` +
      'queue as carried over.',
    `PUE ${decimal(worth.pue, 2)}. Waiting has no price here; weigh it yourself. The simulator's own error is that of the back-test.`,
  ];
  if (worth.uncovered_share > 0) {
    lines.push(
      `${percent(worth.uncovered_share)} of the energy was drawn in hours without a price of their own: they ` +
        'have the mean of their hour of the day.',
    );
  }
  return (
    <ul class="how">
      {lines.map((line) => (
        <li key={line}>{line}</li>
      ))}
    </ul>
  );
}

export function WorthPage({ report }: { report: ReportDocument }) {
  const { worth } = report;
  if (!worth) return null;
  const reference = report.runs[report.reference]?.policy ?? '';
  return (
    <Section id="worth" title="What it is worth a year"
      howToRead={`Every policy against ${reference}. Small numbers are 95 % intervals or details; a saving is positive.`}>
      <Answer worth={worth} reference={reference} />
      <div class="scroll" tabIndex={0} role="region" aria-label="Worth by policy">
        <table class="figures">
          <thead>
            <tr>
              <th scope="col">A year</th>
              {worth.policies.map(({ policy }) => (
                <th key={policy} scope="col">{policy}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rowsOf(worth).map((row) => (
              <tr key={row.label}>
                <th scope="row">
                  {row.label}
                  {row.meaning && <small>{row.meaning}</small>}
                </th>
                {worth.policies.map((policy) => (
                  <td key={policy.policy}>{row.cell(policy)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <Assumptions worth={worth} />
    </Section>
  );
}
