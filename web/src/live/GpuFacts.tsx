// Details of the selected GPU.
import { classLetter, decimal, gib } from '../format';
import type { ChosenGpu } from './chosen_gpu';
import { GPU_STATES } from './GpuCell';
import { Fact, JobLink } from './Parts';
import { useStore } from './useStore';

export function GpuFacts({ chosen }: { chosen: ChosenGpu | null }) {
  const store = useStore();
  if (!chosen) {
    return (
      <aside class="panel gpu-facts" aria-label="GPU">
        <p class="hint">Point at a GPU, or select one with Tab and the arrow keys. Enter opens its job.</p>
      </aside>
    );
  }
  const { node, gpu } = chosen;
  const scores = gpu.scores.map((score, i) => `${classLetter(i)} ${decimal(score, 3)}`);
  return (
    <aside class="panel gpu-facts" aria-label="GPU" aria-live="polite">
      <h3>{node.node}, GPU {gpu.gpu - (node.gpus[0]?.gpu ?? 0)}</h3>
      <dl class="facts-list">
        <Fact name="State">{GPU_STATES[gpu.state]}{node.reason ? ` (${node.reason})` : ''}</Fact>
        {node.gpu_model && <Fact name="Model">{node.gpu_model}</Fact>}
        <Fact name={gpu.jobs.length > 1 ? 'Jobs' : 'Job'}>
          {gpu.jobs.length === 0 ? 'none' : gpu.jobs.map((job, i) => {
            const known = store.jobs.get(job);
            return (
              <span key={job}>
                {i > 0 && ', '}
                <JobLink job={known ?? { job }} />
                {known && ` ${known.name ?? ''} of ${known.user}`}
              </span>
            );
          })}
        </Fact>
        {scores.length > 0 && (
          <Fact name="PM score by class">
            {scores.join(', ')}
            {gpu.score_expired && ' (expired: unknown until it is measured again)'}
            {gpu.score_suspect && ' (suspect: differs from what jobs report)'}
          </Fact>
        )}
        {gpu.util_pct !== undefined && <Fact name="Utilisation">{decimal(gpu.util_pct, 0)} %</Fact>}
        {gpu.mem_used_bytes !== undefined && <Fact name="Memory">{decimal(gib(gpu.mem_used_bytes), 1)} GiB</Fact>}
        {gpu.power_w !== undefined && <Fact name="Power">{decimal(gpu.power_w, 0)} W</Fact>}
        {gpu.temperature_c !== undefined && <Fact name="Temperature">{decimal(gpu.temperature_c, 0)} °C</Fact>}
      </dl>
    </aside>
  );
}
