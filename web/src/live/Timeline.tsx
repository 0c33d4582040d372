// The timeline of a job: waiting periods and runs as a bar and a list.
import { timeOfDay } from './clock';
import { lifeOf, spanWords } from './job_words';
import type { JobDetails } from './shapes';

export function Timeline({ job, nowS }: { job: JobDetails; nowS: number }) {
  const spans = lifeOf(job, nowS);
  const startS = spans[0]?.startS ?? job.submit_s;
  const endS = spans.at(-1)?.endS ?? startS;
  const length = Math.max(1e-9, endS - startS);
  return (
    <section class="panel timeline" aria-label="Timeline">
      <h3>Timeline</h3>
      <div class="timeline-bar" aria-hidden="true">
        {spans.map((span) => (
          <i key={`${span.kind} ${span.startS}`} data-kind={span.kind} title={spanWords(span)}
            style={{ flexGrow: (span.endS - span.startS) / length }} />
        ))}
      </div>
      <p class="timeline-ends">
        <span>{timeOfDay(startS, nowS)}</span>
        <span>{job.end_s === undefined ? 'now' : timeOfDay(endS, nowS)}</span>
      </p>
      <ol class="timeline-list">
        {spans.slice(-12).map((span) => (
          <li key={`${span.kind} ${span.startS}`} data-kind={span.kind}>
            {timeOfDay(span.startS, nowS)}: {spanWords(span)}
          </li>
        ))}
      </ol>
    </section>
  );
}
