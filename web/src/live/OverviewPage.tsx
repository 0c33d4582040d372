// The first page: the last 24 hours in numbers and curves, and the nodes with theirs. It needs no list of jobs.
import { useMemo } from 'preact/hooks';
import { type Line, LineChart } from '../charts/LineChart';
import { count, decimal, duration, kwhText, percent, unitText } from '../format';
import { timeOfDay } from './clock';
import { resultWords } from './job_words';
import {
  hourText, meanLoad, nodeNumbers, nodesOf, nodeWords, powerByStep, stepTimes,
} from './overview';
import { AreaHead, Empty, Problem } from './Parts';
import { queueHash } from './route';
import type { ClusterNode, Overview } from './shapes';
import { useRequest, useStore } from './useStore';

const ASK_EVERY_S = 60;
const NODES_MAX = 120;
const JOULES_PER_KWH = 3.6e6;

function Tile({ name, value, more }: { name: string; value: string; more: string }) {
  return (
    <div class="tile">
      <h3>{name}</h3>
      <p class="tile-value">{value}</p>
      <p class="tile-change">{more}</p>
    </div>
  );
}

function endWords({ ended }: Overview): string {
  const parts = Object.entries(ended).sort(([, a], [, b]) => b - a)
    .map(([result, jobs]) => `${count(jobs)} ${resultWords(result)}`);
  return parts.length === 0 ? 'no job ended' : parts.join(', ');
}

function Tiles({ day }: { day: Overview }) {
  const { stats } = useStore();
  const load = meanLoad(day);
  const energyJ = day.energy_j ?? day.ended_energy_j;
  const waiting = stats?.jobs.waiting ?? 0;
  return (
    <div class="tiles overview-tiles">
      <Tile name="Load" value={load === null ? '–' : percent(load, 0)}
        more={`${count(day.gpu_hours)} GPU-hours held`} />
      <Tile name="Queue now" value={`${count(waiting)} ${waiting === 1 ? 'job' : 'jobs'}`}
        more={`${count(stats?.waiting_gpus ?? 0)} GPUs requested`} />
      <Tile name="Wait, median" value={day.wait_s ? duration(day.wait_s.p50) : '–'}
        more={day.wait_s ? `90 % waited less than ${duration(day.wait_s.p90)}, none more than ${duration(day.wait_s.max)}`
          : 'no job started'} />
      <Tile name="Energy" value={energyJ === undefined ? '–' : kwhText(energyJ / JOULES_PER_KWH)}
        more={energyJ === undefined ? 'not measured' : day.energy_j === undefined ? 'of the jobs that ended'
          : 'of all GPUs while they were measured'} />
      <Tile name="Jobs submitted" value={count(day.submitted)} more={endWords(day)} />
    </div>
  );
}

function Curve({ name, label, day, lines, text, axis, yMax }: {
  name: string; label: string; day: Overview; lines: Line[]; text: (y: number) => string;
  axis?: (y: number) => string; yMax?: number;
}) {
  const { midnightS, x } = useMemo(() => stepTimes(day), [day]);
  return (
    <section class="panel" aria-label={name}>
      <h3>{name}</h3>
      <LineChart label={label} x={x} lines={lines} xKind="time" height={180} xText={(at) => timeOfDay(midnightS + at, day.to_s)}
        xAxisText={(at) => hourText(midnightS + at)} yText={text} {...(axis ? { yAxisText: axis } : {})}
        {...(yMax ? { yMax } : {})} />
    </section>
  );
}

function Curves({ day }: { day: Overview }) {
  const line = (label: string, run: number, values: (number | null)[]): Line =>
    ({ label, run, values, visible: true });
  const power = powerByStep(day);
  const watts = unitText(1000 * Math.max(1, ...power.map((kw) => kw ?? 0)), 'W');
  const hours = Math.round((day.to_s - day.from_s) / 3600);
  return (
    <div class="overview-curves">
      <Curve name="GPUs held" label={`GPUs held in the last ${hours} hours`} day={day}
        lines={[line('held', 0, day.held_gpus)]} text={(y) => decimal(y, 1)} axis={count}
        yMax={Math.max(1, day.num_gpus)} />
      <Curve name="Waiting" label={`GPUs requested by jobs that waited in the last ${hours} hours`} day={day}
        lines={[line('GPUs requested', 1, day.waiting_gpus), line('jobs', 2, day.waiting_jobs)]}
        text={(y) => decimal(y, 1)} axis={count} />
      {day.power && (
        <Curve name="Power" label={`Power of the GPUs in the last ${hours} hours`} day={day}
          lines={[line('GPUs', 3, power)]} text={(y) => watts.exact(1000 * y)} axis={(y) => watts.axis(1000 * y)} />
      )}
    </div>
  );
}

function NodeCard({ node }: { node: ClusterNode }) {
  const numbers = nodeNumbers(node);
  return (
    <li class="node-card" data-state={node.state} title={node.reason ?? node.gpu_model}>
      <b>{node.node}</b>{node.state !== 'up' && <em> {node.state}</em>}
      <i class="node-bar" aria-hidden="true"><i style={{ width: `${(100 * numbers.held) / Math.max(1, numbers.all)}%` }} /></i>
      <span>{nodeWords(numbers)}</span>
    </li>
  );
}

function Nodes() {
  const { cluster } = useStore();
  if (!cluster) return <p class="loading">Loading the cluster…</p>;
  if (cluster.num_gpus === 0) {
    return <Empty command="goban serve --virtual-gpus 4">This cluster has no GPUs. To try the scheduler with virtual GPUs, run:</Empty>;
  }
  const nodes = nodesOf(cluster);
  return (
    <section class="panel" aria-label="Nodes">
      <h3>Nodes: GPUs held, utilisation, power</h3>
      <ul class="node-cards">
        {nodes.slice(0, NODES_MAX).map((node) => <NodeCard key={node.node} node={node} />)}
      </ul>
      <p class="hint">
        {nodes.length > NODES_MAX && `The first ${NODES_MAX} of ${count(nodes.length)} nodes. `}
        <a href="#/cluster">Each GPU on the map</a> · <a href={queueHash({ state: 'active', user: '', text: '' })}>the queue</a>
      </p>
    </section>
  );
}

export function OverviewPage() {
  const store = useStore();
  // By the page's clock: the daemon's is known only after the first view. A new request follows a lost connection or a
  // sign-in, but not the first connection, which is made meanwhile.
  const period = Math.floor(Date.now() / 1000 / ASK_EVERY_S);
  const isLost = store.connection.state === 'lost' || store.connection.state === 'refused';
  const { value: day, error } = useRequest(() => store.api.overview(), [period, isLost]);
  return (
    <>
      <AreaHead title="The last 24 hours" />
      <Problem text={day ? '' : error} />
      {day?.partial && <p class="note">The history has more jobs than were read, so some are missing from these numbers.</p>}
      {day ? <Tiles day={day} /> : <p class="loading">Loading…</p>}
      {day && <Curves day={day} />}
      <Nodes />
    </>
  );
}
