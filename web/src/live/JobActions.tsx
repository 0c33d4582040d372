// Buttons to cancel, hold, release or requeue a job, each with a confirmation.
import { useState } from 'preact/hooks';
import { type Action, errorText } from './api';
import { Dialog } from './Dialog';
import { actionsFor, consequence } from './job_words';
import { Problem } from './Parts';
import type { JobDetails } from './shapes';
import { useLive, useStore } from './useStore';

const NAMES: Record<Action, string> = {
  cancel: 'Cancel', hold: 'Hold', release: 'Release', requeue: 'Requeue',
};

export function JobActions({ job }: { job: JobDetails }) {
  const { stats } = useStore();
  const [asked, setAsked] = useState<Action | null>(null);
  const [done, setDone] = useState('');
  const actions = stats?.caller?.role === 'viewer' ? [] : actionsFor(job);
  return (
    <>
      {actions.length > 0 && (
        <div class="job-actions" role="group" aria-label="Actions for this job">
          {actions.map((action) => (
            <button key={action} type="button" data-action={action} onClick={() => {
              setDone('');
              setAsked(action);
            }}>
              {NAMES[action]}…
            </button>
          ))}
        </div>
      )}
      {stats?.caller?.role !== 'viewer' && !job.spec.interactive && (
        <p class="again"><a href={`#/submit?from=${job.job}`}>Submit again…</a></p>
      )}
      <p class="action-done" aria-live="polite">{done}</p>
      {asked && (
        <Confirm job={job} action={asked} onClose={(text) => {
          setAsked(null);
          if (text) setDone(text);
        }} />
      )}
    </>
  );
}

function Confirm({ job, action, onClose }: {
  job: JobDetails; action: Action; onClose: (done?: string) => void;
}) {
  const { store } = useLive();
  const [wholeArray, setWholeArray] = useState(false);
  const [state, setState] = useState({ busy: false, error: '' });
  const isArray = job.spec.array_first !== undefined;
  const confirm = async () => {
    setState({ busy: true, error: '' });
    try {
      const { jobs } = await store.api.act(job.job, action, wholeArray);
      onClose(`${NAMES[action]}: accepted for ${jobs.length === 1 ? `job ${job.id}` : `${jobs.length} jobs`}.`);
    } catch (error) {
      setState({ busy: false, error: errorText(error) });
    }
  };
  return (
    <Dialog label={`${NAMES[action]} job ${job.id}`} onClose={() => onClose()}>
      <h2>{NAMES[action]} job {job.id}?</h2>
      <p>{consequence(action)}</p>
      {isArray && (
        <label class="check">
          <input type="checkbox" checked={wholeArray} onChange={() => setWholeArray(!wholeArray)} /> all
          unfinished tasks of its array
        </label>
      )}
      <Problem text={state.error} />
      <div class="dialog-buttons">
        <button type="button" onClick={() => onClose()}>Dismiss</button>
        <button type="button" class="confirm" data-action={action} disabled={state.busy} onClick={() => void confirm()}>
          {NAMES[action]} job {job.id}
        </button>
      </div>
    </Dialog>
  );
}
