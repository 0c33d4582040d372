// The form of a new job, empty or with the request of an earlier one.
import { useEffect, useState } from 'preact/hooks';
import { errorText } from './api';
import { EMPTY_FORM, formOf, type JobForm, keepScript, keptScript, requestOf } from './new_job';
import { AreaHead, Problem } from './Parts';
import { jobHash } from './route';
import type { JobDetails } from './shapes';
import { useRequest, useStore } from './useStore';

const FIRST_SCRIPT = '#!/bin/bash\n';

export function NewJob({ from }: { from: number }) {
  const store = useStore();
  const [form, setForm] = useState<JobForm>({ ...EMPTY_FORM, script: FIRST_SCRIPT });
  const [state, setState] = useState({ busy: false, error: '' });
  const before = useRequest<JobDetails | null>(
    () => (from > 0 ? store.api.job(from) : Promise.resolve(null)), [from]);
  const spec = before.value?.spec ?? null;
  useEffect(() => {
    const job = before.value;
    if (job) setForm(formOf(job.spec, job.num_gpus, job.walltime_s, keptScript(from) || FIRST_SCRIPT));
  }, [before.value]);
  const change = (part: Partial<JobForm>) => setForm({ ...form, ...part });
  const readFile = (file: File | undefined) => {
    if (file) void file.text().then((script) => setForm((now) => ({ ...now, script })));
  };
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const request = requestOf(form, spec);
    if ('error' in request) return setState({ busy: false, error: request.error });
    setState({ busy: true, error: '' });
    try {
      const { job } = await store.api.submit(request.body);
      keepScript(job, form.script);
      location.hash = jobHash(job);
    } catch (error) {
      setState({ busy: false, error: errorText(error) });
    }
  };
  const field = (key: keyof JobForm, name: string, hint: string) => (
    <label>
      {name}
      <input value={form[key]} placeholder={hint} onInput={(event) => change({ [key]: event.currentTarget.value })} />
    </label>
  );
  if (store.stats?.caller?.role === 'viewer') {
    return <><AreaHead title="New job" /><p class="note">A viewer cannot submit jobs.</p></>;
  }
  return (
    <>
      <AreaHead title={from > 0 ? `Submit job ${from} again` : 'New job'} />
      <Problem text={before.error} />
      {spec && keptScript(from) === '' && (
        <p class="note">
          The daemon does not give scripts back, as they may contain secrets: choose or paste the script again. All
          else is as it was{spec.array_first === undefined ? '' : ', for one task of the array'}.
        </p>
      )}
      <form class="panel new-job" onSubmit={(event) => void submit(event)}>
        {field('name', 'Name', 'train')}
        {field('gpus', 'GPUs', '1')}
        {field('time', 'Time limit', '90m, 4h, 1d; empty: none')}
        {field('account', 'Account', 'empty: none')}
        {field('workFolder', 'Working folder', 'on the cluster; empty: your home')}
        <label>
          Script from a file
          <input type="file" onChange={(event) => readFile(event.currentTarget.files?.[0])} />
        </label>
        <label class="whole">
          Script
          <textarea spellcheck={false} value={form.script} onInput={(event) => change({ script: event.currentTarget.value })} />
        </label>
        <p class="hint whole">
          Lines that begin with #GOBAN or #SBATCH are not read here; the fields above apply. The job has a minimal
          environment, not that of your shell: goban submit on the command line takes both.
        </p>
        <div class="whole">
          <Problem text={state.error} />
          <button type="submit" class="confirm" disabled={state.busy}>Submit</button>
        </div>
      </form>
    </>
  );
}
