// The page of one job: actions, reason, timeline, progress, details, GPU charts, log.
import { useRef } from 'preact/hooks';
import { decimal, duration, gib, percent } from '../format';
import { shortDuration, timeOfDay } from './clock';
import { GpuCurves } from './GpuCurves';
import { EventCurves } from './EventCurves';
import { JobActions } from './JobActions';
import { JobLinks } from './JobLinks';
import { intervalWords, placeWords, progressWords, secondsLeft, shareDone } from './job_words';
import { LogPanel } from './LogPanel';
import { LossCurve } from './LossCurve';
import { AreaHead, Empty, Fact, JobLink, Problem, StateBadge } from './Parts';
import { hasStarted, holdsGpus } from './queue';
import type { Explanation, JobDetails, JobSummary, Usage } from './shapes';
import { Timeline } from './Timeline';
import { useRequest, useLive, useNow, useStore } from './useStore';
import { heldSeconds } from './users';

const WATT_HOUR = 3600;

/** A number that changes when the job's details must be requested again. */
function useVersionOf(job: JobSummary | undefined, storeVersion: number): number {
  const seen = useRef<{ job: JobSummary | undefined; count: number }>({ job, count: 0 });
  if (seen.current.job !== job) seen.current = { job, count: seen.current.count + 1 };
  // The reason why a job waits depends on the other jobs.
  return job && !holdsGpus(job) && job.state !== 'done' ? storeVersion : -seen.current.count;
}

export function JobPage({ job: number }: { job: number }) {
  const store = useStore();
  const summary = store.jobs.get(number);
  const version = useVersionOf(summary, store.version);
  const details = useRequest(() => store.api.job(number), [number, version]);
  const why = useRequest(() => store.api.explain(number), [number, version]);
  const job = details.value;
  if (!summary && !job) {
    return (
      <>
        <AreaHead title={`Job ${number}`}><Back /></AreaHead>
        <Empty command={`goban history show ${number}`}>
          The daemon no longer has job {number}. Look it up in the history:
        </Empty>
      </>
    );
  }
  const known = job && summary ? { ...job, ...summary } : (job ?? summary!);
  return (
    <>
      <AreaHead title={`Job ${known.id}`}>
        <StateBadge job={known} />
        {known.name && <span class="job-name">{known.name}</span>}
        <Back />
      </AreaHead>
      {details.status === 403
        ? <p class="note">This job belongs to {known.user}. Only its public details are shown.</p>
        : <Problem text={details.error} />}
      {job && <JobActions job={{ ...job, state: known.state }} />}
      {why.value && <Why why={why.value} />}
      {job && <Life job={{ ...job, ...summary }} />}
      {job && known.runs > 0 && <LossCurve job={job} over={known.state === 'done'} />}
      {job && known.runs > 0 && <EventCurves job={job} over={known.state === 'done'} />}
      {job && known.runs > 0 && <JobLinks job={number} over={known.state === 'done'} />}
      <Facts job={known} details={job} />
      {known.gpus && known.gpus.length > 0 && (holdsGpus(known) || (job && known.runs > 0)) && <GpuCurves job={known} mayRead={job !== null} />}
      {job && (hasStarted(known) || known.runs > 0) && <LogPanel job={number} over={known.state === 'done'} />}
    </>
  );
}

function Back() {
  return <a class="back" href="#/queue" aria-keyshortcuts="Escape">Back to the queue</a>;
}

function Why({ why }: { why: Explanation }) {
  const { store } = useLive();
  const title = why.place ? 'Why it runs here' : why.state === 'done' ? 'How it ended' : 'Why it waits';
  return (
    <section class="panel why" aria-label={title}>
      <h3>{title}</h3>
      <p>{why.text.charAt(0).toUpperCase() + why.text.slice(1)}.</p>
      {why.waiting && (
        <p>
          {why.waiting.before === 0 ? 'It is first in the queue.'
            : `Position ${why.waiting.before + 1} in the queue`}
          {why.waiting.first_before && why.waiting.first_before.length > 0 && (
            <>, behind {why.waiting.first_before.slice(0, 8).map((job, i) => (
              <span key={job}>{i > 0 && ', '}<JobLink job={store.jobs.get(job) ?? { job }} /></span>
            ))}{why.waiting.before > 8 && ' and others'}.</>
          )}
          {why.waiting.head_start_s !== undefined
            && ` The first job in the queue is expected to start at ${timeOfDay(why.waiting.head_start_s, store.nowS())}.`}
        </p>
      )}
      {why.dependencies && why.dependencies.length > 0 && (
        <ul>
          {why.dependencies.map(({ kind, job, state }) => (
            <li key={`${kind} ${job}`}>
              {kind} {job !== undefined && <JobLink job={{ job }} />} {state && <StateBadge job={{ state }} />}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function Life({ job }: { job: JobDetails }) {
  const nowS = useNow();
  const share = job.progress ? shareDone(job.progress) : null;
  const left = secondsLeft(job, nowS);
  return (
    <>
      <Timeline job={job} nowS={nowS} />
      {job.progress && (
        <section class="panel" aria-label="Progress">
          <h3>Progress</h3>
          {share !== null && (
            <p class="progress-line">
              <progress max="1" value={share} aria-label="Work done" /> {percent(share)}
              {left !== null && <b> about {shortDuration(left)} left at the mean speed so far</b>}
            </p>
          )}
          <p>{progressWords(job.progress)}</p>
          {job.progress_s !== undefined
            && <p class="hint">Reported {shortDuration(nowS - job.progress_s)} ago.</p>}
        </section>
      )}
    </>
  );
}

function usageWords(usage: Usage): string[] {
  const parts: string[] = [];
  if (usage.gpu_util_pct !== undefined) parts.push(`GPU utilisation ${decimal(usage.gpu_util_pct, 0)} %`);
  if (usage.gpu_mem_bytes_max !== undefined) parts.push(`peak GPU memory ${decimal(gib(usage.gpu_mem_bytes_max), 1)} GiB`);
  if (usage.mem_bytes_max !== undefined) parts.push(`peak memory ${decimal(gib(usage.mem_bytes_max), 2)} GiB`);
  if (usage.cpu_s !== undefined) parts.push(`CPU time ${duration(usage.cpu_s)}`);
  if (usage.energy_j !== undefined) parts.push(`energy ${decimal(usage.energy_j / WATT_HOUR, 1)} Wh`);
  return parts;
}

function timesWords(times: number): string {
  return times === 1 ? 'once' : `${times} times`;
}

function Facts({ job, details }: { job: JobSummary; details: JobDetails | null }) {
  const nowS = useNow();
  const spec = details?.spec;
  const ends = holdsGpus(job) && job.walltime_s && job.run_start_s !== undefined
    && job.state !== 'suspended'
    ? job.run_start_s + (job.suspended_s ?? 0) + job.walltime_s : undefined;
  const starts = intervalWords(details?.start ?? job.start, (at) => timeOfDay(at, nowS));
  const predicted = intervalWords(details?.predicted_run, shortDuration);
  const deadline = spec?.training?.deadline_s;
  return (
    <section class="panel" aria-label="Details">
      <h3>Details</h3>
      <dl class="facts-list">
        <Fact name="User">{job.user}</Fact>
        {job.account && <Fact name="Account">{job.account}</Fact>}
        {job.partition && <Fact name="Partition">{job.partition}</Fact>}
        {job.resource_type && <Fact name="Resource type">{job.resource_type}</Fact>}
        {spec?.model && <Fact name="Model">{spec.model}</Fact>}
        <Fact name="GPUs">{job.num_gpus}{job.gpus ? ` on ${placeWords(job.gpus)}` : ''}{job.shares ? ', shared' : ''}</Fact>
        <Fact name="Priority">{job.priority}</Fact>
        <Fact name="Submitted">{timeOfDay(job.submit_s, nowS)}</Fact>
        {starts !== null && <Fact name="Starts about">{starts}</Fact>}
        {predicted !== null && <Fact name="Predicted run">{predicted}, from {details!.predicted_run!.text}</Fact>}
        {job.first_start_s !== undefined && <Fact name="First start">{timeOfDay(job.first_start_s, nowS)}</Fact>}
        {job.end_s !== undefined && <Fact name="End">{timeOfDay(job.end_s, nowS)}</Fact>}
        {job.walltime_s && (
          <Fact name="Walltime limit">{duration(job.walltime_s)}{ends !== undefined && `, until ${timeOfDay(ends, nowS)}`}</Fact>
        )}
        {deadline !== undefined && deadline > 0 && <Fact name="Deadline">{timeOfDay(job.submit_s + deadline, nowS)}</Fact>}
        <Fact name="Runs">{job.runs}{details && details.preemptions > 0 ? `, preempted ${timesWords(details.preemptions)}` : ''}
          {details && details.breakages > 0 ? `, interrupted ${timesWords(details.breakages)}` : ''}</Fact>
        <Fact name="GPU-hours">{decimal((job.num_gpus * heldSeconds(job, nowS)) / 3600, 2)}</Fact>
        {details?.exit_code !== undefined && <Fact name="Exit code">{details.exit_code}{details.signal ? `, signal ${details.signal}` : ''}</Fact>}
        {details?.usage && <Fact name="Usage">{usageWords(details.usage).join(', ')}</Fact>}
        {spec?.work_folder && <Fact name="Working folder">{spec.work_folder}</Fact>}
      </dl>
    </section>
  );
}
