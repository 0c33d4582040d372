// Small components that several views share.
import type { ComponentChildren } from 'preact';
import { stateWords } from './job_words';
import { jobHash } from './route';
import type { JobSummary } from './shapes';

export function Problem({ text }: { text: string }) {
  return text === '' ? null : <p class="note error" role="alert">{text}</p>;
}

/** A message for an empty view, and a command to try. */
export function Empty({ children, command }: { children: ComponentChildren; command?: string }) {
  return (
    <div class="panel live-empty">
      <p>{children}</p>
      {command && <pre><code>{command}</code></pre>}
    </div>
  );
}

export function StateBadge({ job }: { job: Pick<JobSummary, 'state' | 'result'> }) {
  return <span class="state" data-state={job.state} data-result={job.result}>{stateWords(job)}</span>;
}

export function JobLink({ job }: { job: { job: number; id?: string } }) {
  return <a href={jobHash(job.job)}>{job.id ?? job.job}</a>;
}

export function AreaHead({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="area-head">
      <h2 tabIndex={-1}>{title}</h2>
      {children}
    </div>
  );
}

export function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
