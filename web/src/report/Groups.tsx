// Mean JCT of job groups relative to the reference policy.
import { barLength, ratio } from '../data/compare';
import type { Grouping, ReportDocument } from '../data/document';
import { change, count, duration } from '../format';
import { Section } from './Section';
import { Swatch } from '../Swatch';

const TITLES = { class: 'By application class', gpus: 'By job size' } as const;
const HEADS = { class: 'Class', gpus: 'GPUs' } as const;

function Bar({ value, limit }: { value: number; limit: number }) {
  const length = barLength(value, limit);
  const style =
    length < 0
      ? { right: '50%', width: `${-50 * length}%` }
      : { left: '50%', width: `${50 * length}%` };
  return (
    <div class="bar" aria-hidden="true">
      <i class={length < 0 ? 'gain' : 'loss'} style={style} />
    </div>
  );
}

/** The ratio of a full bar: the largest ratio (or inverse ratio) of all cells, at least 1.1. */
function barLimit(grouping: Grouping, reference: number): number {
  const ratios = grouping.runs.flatMap((run) =>
    run.jct_s.map((jct, g) => ratio(jct, grouping.runs[reference]?.jct_s[g] ?? NaN)),
  );
  return ratios
    .filter((value) => Number.isFinite(value) && value > 0)
    .reduce((limit, value) => Math.max(limit, value, 1 / value), 1.1);
}

function GroupTable({ grouping, report }: { grouping: Grouping; report: ReportDocument }) {
  const { reference } = report;
  const limit = barLimit(grouping, reference);
  const all = report.runs.map((run, index) => ({ run, index }));
  const others = all.filter(({ index }) => index !== reference);
  return (
    <div class="panel">
      <h3>{TITLES[grouping.by]}</h3>
      <div class="scroll" tabIndex={0} role="region" aria-label={TITLES[grouping.by]}>
        <table class="groups">
          <thead>
            <tr>
              <th scope="col">{HEADS[grouping.by]}</th>
              <th scope="col" class="number">Jobs</th>
              <th scope="col" class="number">
                <Swatch run={reference} /> {report.runs[reference]?.policy}
              </th>
              {others.map(({ run, index }) => (
                <th key={run.policy} scope="col" style={{ width: `${72 / others.length}%` }}>
                  <Swatch run={index} /> {run.policy}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {grouping.names.map((name, g) => {
              const base = grouping.runs[reference]?.jct_s[g] ?? NaN;
              return (
                <tr key={name}>
                  <th scope="row">{name.replace('-', '–')}</th>
                  <td class="number">{count(grouping.jobs[g] ?? 0)}</td>
                  <td class="number">{duration(base)}</td>
                  {others.map(({ run, index }) => {
                    const jct = grouping.runs[index]?.jct_s[g] ?? NaN;
                    return (
                      <td key={run.policy}>
                        <span class="bar-text">
                          <b>{change(ratio(jct, base))}</b> {duration(jct)}
                        </span>
                        <Bar value={ratio(jct, base)} limit={limit} />
                      </td>
                    );
                  })}
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </div>
  );
}

export function Groups({ report }: { report: ReportDocument }) {
  const reference = report.runs[report.reference]?.policy ?? '';
  return (
    <Section id="groups" title="Gains and losses by job group"
      howToRead={
        `Mean JCT of each group of jobs relative to ${reference}. Bars to the left are shorter times, ` +
        'bars to the right longer ones. The scale is logarithmic: half and double have equal bars.'
      }>
      {report.groups.map((grouping) => (
        <GroupTable key={grouping.by} grouping={grouping} report={report} />
      ))}
    </Section>
  );
}
