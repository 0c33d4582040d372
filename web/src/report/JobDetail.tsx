// The outcomes of one job under all policies.
import type { ReportDocument } from '../data/document';
import { ENDS, type Outcomes, nameAt, readOutcomes, type Requests } from '../data/jobs';
import { classLetter, clock, count, duration } from '../format';
import { Swatch } from '../Swatch';
import { useLoaded } from './useLoaded';

interface JobDetailProps {
  report: ReportDocument;
  requests: Requests;
  job: number;
  onClose: () => void;
}

function OutcomeRow({ policy, run, outcomes, job }: {
  policy: string; run: number; outcomes: Outcomes; job: number;
}) {
  return (
    <tr>
      <th scope="row">
        <Swatch run={run} /> {policy}
      </th>
      <td class="number">{clock(outcomes.start[job]!)}</td>
      <td class="number">{clock(outcomes.finish[job]!)}</td>
      <td class="number">{duration(outcomes.jct[job]!)}</td>
      <td class="number">{duration(outcomes.wait[job]!)}</td>
      <td class="number">{count(outcomes.preemptions[job]!)}</td>
      <td>{ENDS[outcomes.end[job]!]}</td>
    </tr>
  );
}

export function JobDetail({ report, requests, job, onClose }: JobDetailProps) {
  const all = useLoaded(
    () => Promise.all(report.runs.map((_, run) => readOutcomes(report.table, requests, run))),
    [requests],
  );
  const user = nameAt(requests.users, requests.user[job]);
  const model = nameAt(requests.models, requests.model[job]);
  return (
    <aside class="panel detail" aria-label="One job under all policies" aria-live="polite">
      <div class="detail-head">
        <h3>Job {requests.names[job]}</h3>
        <button type="button" onClick={onClose}>Close</button>
      </div>
      <p>
        {count(requests.gpus[job]!)} GPUs, class {classLetter(requests.appClass[job]!)}
        {model && `, model ${model}`}
        {user && `, user ${user}`}, submitted at {clock(requests.submit[job]!)}.
      </p>
      <div class="scroll">
        <table class="outcomes">
          <thead>
            <tr>
              {['Policy', 'Start', 'Finish', 'JCT', 'Wait time', 'Preemptions', 'Outcome'].map((head, i) => (
                <th key={head} scope="col" class={i > 0 && i < 6 ? 'number' : ''}>{head}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            {all?.map((outcomes, run) => (
              <OutcomeRow key={run} policy={report.runs[run]?.policy ?? ''} run={run}
                outcomes={outcomes} job={job} />
            ))}
          </tbody>
        </table>
      </div>
    </aside>
  );
}
