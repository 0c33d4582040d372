// The filters of the job table.
import { useMemo } from 'preact/hooks';
import { type Filter, NO_FILTER, type Requests } from '../data/jobs';
import { classLetter } from '../format';

interface JobFiltersProps {
  filter: Filter;
  requests: Requests;
  onChange: (filter: Filter) => void;
}

export function JobFilters({ filter, requests, onChange }: JobFiltersProps) {
  const classes = useMemo(() => [...new Set(requests.appClass)].sort((a, b) => a - b), [requests]);
  const set = (part: Partial<Filter>) => onChange({ ...filter, ...part });
  return (
    <form class="filters" onSubmit={(event) => event.preventDefault()} aria-label="Filter jobs">
      <label class="grow">
        Job, user or model
        <input type="search" value={filter.text} placeholder="contains…" autocomplete="off"
          onInput={(event) => set({ text: event.currentTarget.value })} />
      </label>
      <label>
        Class
        <select value={filter.appClass}
          onChange={(event) => set({ appClass: Number(event.currentTarget.value) })}>
          <option value={-1}>any</option>
          {classes.map((each) => (
            <option key={each} value={each}>{classLetter(each)}</option>
          ))}
        </select>
      </label>
      <label>
        Minimum GPUs
        <input type="number" min={0} value={filter.gpusMin}
          onInput={(event) => set({ gpusMin: Math.max(0, event.currentTarget.valueAsNumber || 0) })} />
      </label>
      <label class="check">
        <input type="checkbox" checked={filter.preempted}
          onChange={(event) => set({ preempted: event.currentTarget.checked })} />
        preempted
      </label>
      <label class="check">
        <input type="checkbox" checked={filter.killed}
          onChange={(event) => set({ killed: event.currentTarget.checked })} />
        killed at walltime limit
      </label>
      <button type="button" onClick={() => onChange(NO_FILTER)}>Clear</button>
    </form>
  );
}
