// The co-location matrix: measured pairs of applications, and the pairs that a run co-located.
import { useState } from 'preact/hooks';
import { Choice } from '../Choice';
import { cellFill, Matrix, MatrixPatterns, toneFill } from '../charts/Matrix';
import { floatValues } from '../data/column';
import {
  type CellKind, cellOf, countPairs, hasColocation, markRadius, type Measure, shortName, tone,
} from '../data/colocation';
import type { Colocation, ReportDocument } from '../data/document';
import { count, decimal, percent } from '../format';
import { PolicyChoice } from './PolicyBar';
import { Section } from './Section';
import { useLoaded } from './useLoaded';

const MEASURES: readonly { measure: Measure; name: string; ends: [string, string, string] }[] = [
  { measure: 'rates', name: 'Combined throughput',
    ends: ['½ of time slicing or less', 'same as time slicing', 'no slowdown'] },
  { measure: 'slowdown', name: 'Slowdown of the row application',
    ends: ['4× or more', '2×, same as time slicing', '1×, no slowdown'] },
];

interface Loaded {
  type: number;
  run: number;
  slowdowns: Float32Array;
  together: Float32Array;
}

async function load({ gpu_types }: Colocation, type: number, run: number): Promise<Loaded> {
  const page = gpu_types[type]!;
  const [slowdowns, together] = await Promise.all([
    floatValues(page.slowdown), floatValues(page.together_h[run]!),
  ]);
  return { type, run, slowdowns: slowdowns!, together: together! };
}

function Key({ ends }: { ends: [string, string, string] }) {
  const stops = [-1, -0.5, 0, 0.25, 0.5, 0.75, 1];
  const box = (kind: CellKind, marked = false) => (
    <svg width="16" height="16">
      <rect class={`cell ${kind}`} x="0.5" y="0.5" width="15" height="15"
        style={{ fill: cellFill(kind, 0) }} />
      {marked && <circle class="met" cx="8" cy="8" r="4" />}
    </svg>
  );
  return (
    <p class="matrix-key" aria-hidden="true">
      <span>
        {ends[0]}
        <i class="tone-ramp">
          {stops.map((stop) => (
            <b key={stop} style={{ background: toneFill(stop) }} title={stop === 0 ? ends[1] : ''} />
          ))}
        </i>
        {ends[2]}
      </span>
      <span>{box('measured')} {ends[1]}</span>
      <span>{box('never')} excluded: does not fit, or could not be measured</span>
      <span>{box('unknown')} not measured</span>
      <span>{box('measured', true)} co-located in this run; the area shows GPU-hours</span>
    </p>
  );
}

/** A cell in words. */
function sentence(colocation: Colocation, loaded: Loaded, row: number, column: number): string {
  const names = colocation.apps.map(shortName);
  const cell = cellOf(loaded.slowdowns, names.length, row, column);
  const hours = loaded.together[row * names.length + column] ?? 0;
  const met = hours > 0 ? `; co-located for ${decimal(hours, 1)} GPU-h in this run` : '; not co-located in this run';
  const pair = `${names[row]} with ${names[column]}`;
  if (cell.kind === 'never') return `${pair}: excluded${met}`;
  if (cell.kind === 'unknown') return `${pair}: not measured${met}`;
  const other = row === column ? '' : `, of ${names[column]} ${decimal(cell.columnSlowdown, 2)}×`;
  return (
    `${pair}: slowdown of ${names[row]} ${decimal(cell.rowSlowdown, 2)}×${other}; ` +
    `combined throughput ${percent(cell.rates, 0)} of one alone${met}`
  );
}

export function ColocationSection({ report, first }: { report: ReportDocument; first: number }) {
  const { colocation } = report;
  return colocation && hasColocation(report) ? (
    <ColocationMatrix report={report} colocation={colocation} first={first} />
  ) : null;
}

function ColocationMatrix({ report, colocation, first }: {
  report: ReportDocument; colocation: Colocation; first: number;
}) {
  const [type, setType] = useState(0);
  const [run, setRun] = useState(first);
  const [measure, setMeasure] = useState(0);
  const loaded = useLoaded(() => load(colocation, type, run), [type, run]);
  const apps = colocation.apps.length;
  const policy = report.runs[run]?.policy ?? '';
  const gpu = colocation.gpu_types[type]?.name ?? '';
  const chosen = MEASURES[measure]!;
  const most = loaded ? loaded.together.reduce((max, hours) => Math.max(max, hours), 0) : 0;
  const counts = loaded && countPairs(loaded.slowdowns, loaded.together, apps);
  return (
    <Section id="colocation" title="Co-location of applications"
      howToRead={
        'Each cell is a pair of applications on one GPU, as measured before the simulation. Blue: together ' +
        'they do more work than by time slicing; orange: less. A mark: the chosen policy co-located the pair.'
      }>
      <PolicyChoice label="Policy" name="colocation-policy" policies={report.runs.map((each) => each.policy)}
        chosen={run} onChoose={setRun} />
      {colocation.gpu_types.length > 1 && (
        <Choice label="GPU" name="colocation-gpu" options={colocation.gpu_types.map((each) => each.name)}
          chosen={type} onChoose={setType} />
      )}
      <Choice label="Colour by" name="colocation-measure" options={MEASURES.map((each) => each.name)}
        chosen={measure} onChoose={setMeasure} />
      <div class="panel">
        <MatrixPatterns />
        <Key ends={chosen.ends} />
        {loaded && counts ? (
          <>
            <p class="matrix-counts">
              {gpu}: {count(counts.measured)} pairs measured, {count(counts.never)} excluded,{' '}
              {count(counts.unknown)} not measured; {count(counts.met)} co-located under{' '}
              {report.runs[loaded.run]?.policy}.
            </p>
            <Matrix
              label={
                `Matrix of ${apps} by ${apps} applications on ${gpu}: ${chosen.name.toLowerCase()}, and ` +
                `which pairs were co-located under ${policy}.`
              }
              names={colocation.apps.map(shortName)}
              cell={(row, column) => {
                const cell = cellOf(loaded.slowdowns, apps, row, column);
                return {
                  kind: cell.kind,
                  tone: cell.kind === 'measured' ? tone(cell, chosen.measure) : 0,
                  mark: markRadius(loaded.together[row * apps + column] ?? 0, most),
                };
              }}
              cellText={(row, column) => sentence(colocation, loaded, row, column)} />
          </>
        ) : (
          <div class="chart-place" />
        )}
        {colocation.left_out > 0 && (
          <p class="hint">
            {count(colocation.left_out)} applications with fewer jobs are omitted.
          </p>
        )}
      </div>
    </Section>
  );
}
