// Links to the experiment trackers that a job named at the beginning of its log.
import { linksIn } from './job_links';
import { useRequest, useStore } from './useStore';

const BYTES = 65_536;
const ASK_EVERY_S = 30;

export function JobLinks({ job, over }: { job: number; over: boolean }) {
  const store = useStore();
  const period = over ? 0 : Math.floor(store.nowS() / ASK_EVERY_S);
  const text = useRequest(
    () => Promise.all(['stdout', 'stderr'].map((stream) => store.api.logBegin(job, stream, BYTES))),
    [job, period, over]).value;
  const links = linksIn((text ?? []).join('\n'));
  if (links.length === 0) return null;
  return (
    <section class="panel links" aria-label="Experiment trackers">
      <h3>Experiment trackers</h3>
      <ul>
        {links.map(({ name, url }) => (
          <li key={url}>{name}: <a href={url} target="_blank" rel="noopener noreferrer">{url}</a></li>
        ))}
      </ul>
      <p class="hint">As the job’s log names them; goban has not checked where they lead.</p>
    </section>
  );
}
