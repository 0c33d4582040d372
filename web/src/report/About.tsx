// How the report was made, and what was rounded or left out to keep it small.
import type { ReportDocument } from '../data/document';
import { axisTime, count } from '../format';
import { Section } from './Section';

function reductions(report: ReportDocument): string[] {
  const { table, heat, series, energy, colocation } = report;
  const lines = [
    `Times of single jobs are rounded to ${table.tick_s} s; figures and averages are not.`,
    `The load over time is averaged over ${axisTime(series.step_s, 1)}, the heat map over ` +
      `${axisTime(heat.step_s, 1)} and to whole percents.`,
    'The distributions are read at 400 points.',
  ];
  if (table.jobs < report.jobs) {
    lines.unshift(
      `The table holds ${count(table.jobs)} of ${count(report.jobs)} jobs, evenly taken in submit ` +
        'order; figures and pictures are of all jobs. goban simulate --out DIR writes every job.',
    );
  }
  if (energy) {
    lines.push(
      `Power is averaged over ${axisTime(energy.step_s, 1)}; energy by accounting is not rounded.`);
  }
  if (colocation && colocation.left_out > 0) {
    lines.push(
      `The matrix of applications holds the ${colocation.apps.length} with most jobs of ` +
        `${colocation.apps.length + colocation.left_out}.`);
  }
  if (heat.kind === 'nodes') {
    lines.push('Neighbouring nodes share a row of the heat map.');
  }
  return lines;
}

/** How each policy was run; one line if all were run alike. */
function policySettings(report: ReportDocument): [string, string][] {
  const lines = report.runs.map((run): [string, string] => [
    run.policy, run.settings.map(({ name, value }) => `${name} ${value}`).join(', '),
  ]);
  const first = lines[0]?.[1] ?? '';
  return lines.length > 1 && lines.every(([, text]) => text === first)
    ? [['every policy', first]]
    : lines;
}

export function About({ report }: { report: ReportDocument }) {
  return (
    <Section id="about" title="About this report"
      howToRead="What was simulated, with which settings, and what was rounded to keep the file small.">
      <div class="pair">
        <div class="panel">
          <h3>Settings</h3>
          <dl class="settings">
            {report.settings.map((setting, i) => (
              <div key={i}>
                <dt>{setting.name}</dt>
                <dd>{setting.value}</dd>
              </div>
            ))}
            {policySettings(report).map(([policy, text]) => (
              <div key={policy}>
                <dt>{policy}</dt>
                <dd>{text}</dd>
              </div>
            ))}
          </dl>
        </div>
        <div class="panel">
          <h3>Rounded or left out</h3>
          <ul>
            {reductions(report).map((line) => (
              <li key={line}>{line}</li>
            ))}
          </ul>
          <p>
            Times are counted from the first submit. Nothing of this page comes from a network: it can
            be kept, sent and printed.
          </p>
        </div>
      </div>
    </Section>
  );
}
