// All metrics of all policies, with changes relative to the reference policy.
import { ratio } from '../data/compare';
import { figureOf, type ReportDocument, type Run, worstAccount } from '../data/document';
import { change, decimal, duration } from '../format';
import { type Figure, figuresOf } from './figures';
import { Section } from './Section';
import { Swatch } from '../Swatch';

function best(figure: Figure, values: number[]): number | undefined {
  if (!figure.better || values.length < 2 || values.some((value) => !Number.isFinite(value))) {
    return undefined;
  }
  const least = Math.min(...values);
  const most = Math.max(...values);
  return least === most ? undefined : figure.better === 'low' ? least : most;
}

export function FigureRow({ figure, report: { runs, reference } }: {
  figure: Figure; report: ReportDocument;
}) {
  const values = runs.map((run) => figureOf(run, figure.key));
  const marked = best(figure, values);
  return (
    <tr>
      <th scope="row">
        {figure.label}
        {figure.meaning && <small>{figure.meaning}</small>}
      </th>
      {values.map((value, run) => (
        <td key={run} class={value === marked ? 'best' : ''}>
          {Number.isFinite(value) ? figure.text(value) : '–'}
          {value === marked && <span class="visually-hidden"> (best)</span>}
          {figure.note ? (
            <small>{figure.note(runs[run]!)}</small>
          ) : (
            figure.better && run !== reference && (
              <small>{change(ratio(value, values[reference] ?? NaN))}</small>
            )
          )}
        </td>
      ))}
    </tr>
  );
}

export function FigureHead({ report }: { report: ReportDocument }) {
  return (
    <thead>
      <tr>
        <th scope="col">Metric</th>
        {report.runs.map((run, index) => (
          <th key={run.policy} scope="col">
            <Swatch run={index} />
            {run.policy}
          </th>
        ))}
      </tr>
    </thead>
  );
}

/** An average hides which accounts are served worst. */
function WorstRow({ runs }: { runs: Run[] }) {
  if (!runs.some(worstAccount)) return null;
  return (
    <tr>
      <th scope="row">
        Worst-served account<small>by average bounded slowdown</small>
      </th>
      {runs.map((run) => {
        const worst = worstAccount(run);
        return (
          <td key={run.policy}>
            {worst ? `${decimal(worst.avg_slowdown, 1)}×` : '–'}
            {worst && (
              <small>
                {worst.name || '(no name)'}, wait time {duration(worst.avg_wait_s)}
              </small>
            )}
          </td>
        );
      })}
    </tr>
  );
}

export function FigureTable({ report }: { report: ReportDocument }) {
  return (
    <Section id="compare" title="Comparison of policies"
      howToRead={
        'Each row is a metric, each column a policy. The best value of a row is highlighted. The small ' +
        `number below a value is its change relative to ${report.runs[report.reference]?.policy}.`
      }>
      <div class="scroll" tabIndex={0} role="region" aria-label="Metrics by policy">
        <table class="figures">
          <FigureHead report={report} />
          <tbody>
            {figuresOf(report.runs).map((figure) => (
              <FigureRow key={figure.key} figure={figure} report={report} />
            ))}
            <WorstRow runs={report.runs} />
          </tbody>
        </table>
      </div>
    </Section>
  );
}
