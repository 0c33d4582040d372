// Finished jobs of the history, and how well each user's jobs used their GPUs.
import { useMemo, useState } from 'preact/hooks';
import { Choice } from '../Choice';
import { count, decimal, duration, kwhText } from '../format';
import { timeOfDay } from './clock';
import { gpuHoursOf, HISTORY_MAX, PERIODS, usesOf, type UserUse } from './history';
import { AreaHead, Empty, JobLink, Problem, StateBadge } from './Parts';
import type { JobSummary } from './shapes';
import { useRequest, useStore } from './useStore';

const ROWS = 50;

const hours = (value: number) => decimal(value, value < 10 ? 2 : 0);
const share = (value: number | null | undefined) => (value === null || value === undefined ? '–' : `${decimal(value, 0)} %`);

function Uses({ rows }: { rows: UserUse[] }) {
  return (
    <section class="panel" aria-label="Efficiency by user">
      <h3>Efficiency by user</h3>
      <div class="scroll" tabIndex={0} role="region" aria-label="Efficiency by user, table">
        <table class="users">
          <thead>
            <tr>
              <th scope="col">User</th>
              {['Jobs', 'Failed', 'GPU-hours', 'GPU utilisation', 'Idle GPU-hours', 'Energy'].map((head) => (
                <th key={head} scope="col" class="number">{head}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.user}>
                <th scope="row">{row.user}</th>
                <td class="number">{count(row.jobs)}</td>
                <td class="number">{count(row.failed)}</td>
                <td class="number">{hours(row.gpuHours)}</td>
                <td class="number">{share(row.utilPct)}</td>
                <td class="number">{row.idleGpuHours === null ? '–' : hours(row.idleGpuHours)}</td>
                <td class="number">{row.kwh === null ? '–' : kwhText(row.kwh)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p class="hint">Idle GPU-hours: held, but not used, by the measured utilisation. A dash: not measured.</p>
    </section>
  );
}

function Jobs({ jobs, nowS }: { jobs: JobSummary[]; nowS: number }) {
  const [page, setPage] = useState(0);
  const pages = Math.max(1, Math.ceil(jobs.length / ROWS));
  const at = Math.min(page, pages - 1);
  return (
    <section class="panel" aria-label="Finished jobs">
      <h3>Finished jobs</h3>
      <div class="scroll" tabIndex={0} role="region" aria-label="Finished jobs, table">
        <table class="history">
          <thead>
            <tr>
              <th scope="col">Job</th><th scope="col">User</th><th scope="col">Name</th><th scope="col">Result</th>
              {['GPUs', 'Waited', 'Ran', 'GPU-hours', 'GPU utilisation', 'End'].map((head) => (
                <th key={head} scope="col" class="number">{head}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            {jobs.slice(at * ROWS, (at + 1) * ROWS).map((job) => (
              <tr key={job.job}>
                <td><JobLink job={job} /></td>
                <td>{job.user}</td>
                <td class="job-name">{job.name ?? ''}</td>
                <td><StateBadge job={job} /></td>
                <td class="number">{count(job.num_gpus)}</td>
                <td class="number">{job.first_start_s === undefined ? '–' : duration(job.first_start_s - job.submit_s)}</td>
                <td class="number">{duration(job.held_s)}</td>
                <td class="number">{hours(gpuHoursOf(job))}</td>
                <td class="number">{share(job.usage?.gpu_util_pct)}</td>
                <td class="number">{job.end_s === undefined ? '–' : timeOfDay(job.end_s, nowS)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {pages > 1 && (
        <p class="pager">
          <button type="button" disabled={at === 0} onClick={() => setPage(at - 1)}>Later</button>
          <span>Page {at + 1} of {pages}</span>
          <button type="button" disabled={at === pages - 1} onClick={() => setPage(at + 1)}>Earlier</button>
        </p>
      )}
    </section>
  );
}

export function History() {
  const store = useStore();
  const [period, setPeriod] = useState(0);
  const [all, setAll] = useState(true);
  const role = store.stats?.caller?.role;
  // Others are refused the jobs of other users.
  const mayAll = role === undefined || role === 'operator' || role === 'viewer';
  const nowS = store.nowS();
  const { value: jobs, error } = useRequest(
    () => store.api.past({ from_s: Math.max(0, nowS - PERIODS[period]!.seconds), all: all && mayAll, limit: HISTORY_MAX }),
    [period, all, mayAll, store.connection.state === 'live']);
  const uses = useMemo(() => usesOf(jobs ?? []), [jobs]);
  return (
    <>
      <AreaHead title="History" />
      <Choice label="Finished in the last" name="history-period" options={PERIODS.map(({ name }) => name)}
        chosen={period} onChoose={setPeriod}>
        {mayAll && (
          <label class="check">
            <input type="checkbox" checked={all} onChange={() => setAll(!all)} /> all users
          </label>
        )}
      </Choice>
      <Problem text={error} />
      {jobs === null ? (error ? null : <p class="loading">Loading…</p>) : jobs.length === 0
        ? <Empty command="goban history jobs --from 2026-01-01">No job ended in this period. The command line has all:</Empty>
        : (
          <>
            {jobs.length === HISTORY_MAX && (
              <p class="note">The last {count(HISTORY_MAX)} jobs of the period. goban history jobs has all of them.</p>
            )}
            <Uses rows={uses} />
            <Jobs jobs={jobs} nowS={nowS} />
          </>
        )}
    </>
  );
}
