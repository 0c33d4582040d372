// The job section: policy choice, filters, a paged table, and one job under all policies.
import { useMemo, useState } from 'preact/hooks';
import type { ReportDocument } from '../data/document';
import {
  type Filter, filterJobs, NO_FILTER, readOutcomes, readRequests, sortJobs, type SortKey,
} from '../data/jobs';
import { count } from '../format';
import type { JobData } from './job_data';
import { JobDetail } from './JobDetail';
import { JobFilters } from './JobFilters';
import { JobTable } from './JobTable';
import { PolicyChoice } from './PolicyBar';
import { Section } from './Section';
import { useLoaded } from './useLoaded';

const PAGE = 25;

function Pager({ page, pages, onPage }: {
  page: number; pages: number; onPage: (page: number) => void;
}) {
  return (
    <nav class="pager" aria-label="Pages of the table">
      <button type="button" disabled={page === 0} onClick={() => onPage(0)}>First</button>
      <button type="button" disabled={page === 0} onClick={() => onPage(page - 1)}>Previous</button>
      <span aria-live="polite">
        Page {count(page + 1)} of {count(pages)}
      </span>
      <button type="button" disabled={page >= pages - 1} onClick={() => onPage(page + 1)}>Next</button>
      <button type="button" disabled={page >= pages - 1} onClick={() => onPage(pages - 1)}>Last</button>
    </nav>
  );
}

function JobBrowser({ report, data }: { report: ReportDocument; data: JobData }) {
  const [filter, setFilter] = useState<Filter>(NO_FILTER);
  const [sort, setSort] = useState<{ key: SortKey; descending: boolean }>({
    key: 'submit', descending: false,
  });
  const [page, setPage] = useState(0);
  const [job, setJob] = useState<number | null>(null);
  const { requests, outcomes } = data;

  const kept = useMemo(() => filterJobs(requests, outcomes, filter), [data, filter]);
  const sorted = useMemo(
    () => sortJobs(kept, requests, outcomes, sort.key, sort.descending), [kept, sort],
  );
  const pages = Math.max(1, Math.ceil(sorted.length / PAGE));
  const shown = Math.min(page, pages - 1);

  const changeFilter = (next: Filter) => {
    setFilter(next);
    setPage(0);
  };
  const changeSort = (key: SortKey) => {
    setSort({ key, descending: sort.key === key ? !sort.descending : false });
    setPage(0);
  };
  return (
    <>
      <JobFilters filter={filter} requests={requests} onChange={changeFilter} />
      <p class="table-count" aria-live="polite">
        {count(sorted.length)} of {count(report.table.jobs)} jobs
        {report.table.jobs < report.jobs && ` (a sample of ${count(report.jobs)})`}
      </p>
      <JobTable data={data} jobs={sorted.subarray(shown * PAGE, (shown + 1) * PAGE)} sort={sort}
        onSort={changeSort} chosen={job} onChoose={setJob}
        onPage={(by) => setPage(Math.max(0, Math.min(pages - 1, shown + by)))} />
      <Pager page={shown} pages={pages} onPage={setPage} />
      {job !== null && <JobDetail report={report} requests={requests} job={job}
        onClose={() => setJob(null)} />}
    </>
  );
}

export function JobSection({ report, first }: { report: ReportDocument; first: number }) {
  const [run, setRun] = useState(first);
  const requests = useLoaded(() => readRequests(report.table), [report]);
  const data = useLoaded(
    async (): Promise<JobData | undefined> =>
      requests && { requests, outcomes: await readOutcomes(report.table, requests, run) },
    [requests, run],
  );
  return (
    <Section id="jobs" title="Jobs"
      howToRead={
        'Each row is a job under the chosen policy. A click on a column header sorts; a click or Enter on a ' +
        'row shows that job under all policies.'
      }>
      <PolicyChoice label="Policy" name="job-policy" policies={report.runs.map((each) => each.policy)}
        chosen={run} onChoose={setRun} />
      {data ? <JobBrowser report={report} data={data} /> : <div class="table-place" />}
    </Section>
  );
}
