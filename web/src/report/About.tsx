// The settings of the simulation, and what was rounded or omitted to keep the file small.
import type { ReportDocument } from '../data/document';
import { axisTime, count } from '../format';
import { Section } from './Section';

function reductions(report: ReportDocument): string[] {
  const { table, heat, series, energy, colocation } = report;
  const lines = [
    `Times of individual jobs are rounded to ${table.tick_s} s; metrics and averages are exact.`,
    `The load over time is averaged over ${axisTime(series.step_s, 1)}. The heat map is averaged over ` +
      `${axisTime(heat.step_s, 1)} and rounded to whole percents.`,
    'The distributions are sampled at 400 points.',
  ];
  if (table.jobs < report.jobs) {
    lines.unshift(
      `The job table holds ${count(table.jobs)} of ${count(report.jobs)} jobs, sampled evenly in submit ` +
        'order; metrics and charts cover all jobs. goban simulate --out DIR writes every job.',
    );
  }
  if (energy) {
    lines.push(
      `Power is averaged over ${axisTime(energy.step_s, 1)}; energy by accounting is not rounded.`);
  }
  if (colocation && colocation.left_out > 0) {
    lines.push(
      `The co-location matrix holds the ${colocation.apps.length} applications with the most jobs, of ` +
        `${colocation.apps.length + colocation.left_out}.`);
  }
  if (heat.kind === 'nodes') {
    lines.push('Each row of the heat map is a group of adjacent nodes.');
  }
  return lines;
}

/** The settings of each policy; one line if they are identical. */
function policySettings(report: ReportDocument): [string, string][] {
  const lines = report.runs.map((run): [string, string] => [
    run.policy, run.settings.map(({ name, value }) => `${name} ${value}`).join(', '),
  ]);
  const first = lines[0]?.[1] ?? '';
  return lines.length > 1 && lines.every(([, text]) => text === first)
    ? [['all policies', first]]
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
          <h3>Rounded or omitted</h3>
          <ul>
            {reductions(report).map((line) => (
              <li key={line}>{line}</li>
            ))}
          </ul>
          <p>
            All times are relative to the first submit. This page is self-contained: you can keep, send and
            print it.
          </p>
        </div>
      </div>
    </Section>
  );
}
