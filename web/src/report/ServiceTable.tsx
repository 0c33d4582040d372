// The table of service targets, slowdowns, fairness and co-location.
import type { ReportDocument } from '../data/document';
import { figureOf } from '../data/document';
import { FigureHead, FigureRow } from './FigureTable';
import { hasService, predictionText, SERVICE_FIGURES } from './figures';
import { Section } from './Section';

export function ServiceTable({ report }: { report: ReportDocument }) {
  if (!hasService(report)) return null;
  const known = SERVICE_FIGURES.filter(({ key }) =>
    report.runs.some((run) => !Number.isNaN(figureOf(run, key))),
  );
  return (
    <Section id="service" title="Service targets, fairness and co-location"
      howToRead={
        'How many service targets were missed, how unevenly users were slowed down, and how often jobs ' +
        'were co-located.'
      }>
      <div class="scroll" tabIndex={0} role="region" aria-label="Service metrics by policy">
        <table class="figures">
          <FigureHead report={report} />
          <tbody>
            {known.map((figure) => (
              <FigureRow key={figure.key} figure={figure} report={report} />
            ))}
            <tr>
              <th scope="row">
                Co-located launches<small>by source of the predicted slowdown</small>
              </th>
              {report.runs.map((run) => (
                <td key={run.policy} class="words">{predictionText(run)}</td>
              ))}
            </tr>
          </tbody>
        </table>
      </div>
    </Section>
  );
}
