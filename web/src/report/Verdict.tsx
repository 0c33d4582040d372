// The result in one sentence, its reliability, and a tile per policy.
import {
  type Backtest, figureOf, gainOf, type Note, type ReportDocument, type Run,
} from '../data/document';
import { argMin } from '../data/compare';
import { HEADLINE, kwhOf } from '../data/energy';
import { change, duration, kwhText, percent } from '../format';
import { Swatch } from '../Swatch';

const jctOf = (run: Run) => figureOf(run, 'avg_jct_s');

/** Shown if the p99 JCT of the best policy exceeds that of the reference by more than 5 %. */
function Price({ best, reference }: { best: Run; reference: Run }) {
  const slowest = figureOf(best, 'p99_jct_s');
  const before = figureOf(reference, 'p99_jct_s');
  if (!(slowest > 1.05 * before)) return null;
  return (
    <>
      {' '}
      The cost: the 99th percentile JCT rises from {duration(before)} to{' '}
      <b class="loss">{duration(slowest)}</b>.
    </>
  );
}

function Answer({ report }: { report: ReportDocument }) {
  const reference = report.runs[report.reference];
  const best = report.runs[argMin(report.runs.map(jctOf))];
  if (!reference || !best) return null;
  if (report.runs.length === 1) {
    return (
      <p class="answer">
        Under <b>{best.policy}</b> the average JCT is <b>{duration(jctOf(best))}</b>.
      </p>
    );
  }
  const { gain, error, claimed } = gainOf(best, 'jct');
  if (best === reference || !claimed) {
    return (
      <p class="answer">
        No policy is shown to beat <b>{reference.policy}</b>, whose average JCT is{' '}
        <b>{duration(jctOf(reference))}</b>.
        {best !== reference && ` ${best.policy} is ${percent(gain)} below, within the error of the back-test.`}
      </p>
    );
  }
  return (
    <p class="answer">
      The average JCT is shortest under <b>{best.policy}</b>: <b>{duration(jctOf(best))}</b>,{' '}
      <b class="gain">{percent(gain)} below</b> {reference.policy}
      {error !== undefined && ` (error of the back-test: ${percent(error)})`}.
      <Price best={best} reference={reference} />
      {error === undefined && (
        <small>There is no back-test, so the error of the simulation is unknown.</small>
      )}
    </p>
  );
}

/** The change relative to the reference, its error, and whether it is claimed. */
function Change({ run }: { run: Run }) {
  const { gain, error, claimed } = gainOf(run, 'jct');
  const tone = !claimed || gain === 0 ? '' : gain > 0 ? 'gain' : 'loss';
  return (
    <p class={`tile-change ${tone}`}>
      {change(1 - gain)} JCT
      {error !== undefined && ` ± ${percent(error)}`}
      {!claimed && ', not claimed'}
    </p>
  );
}

function Tile({ run, index, reference }: { run: Run; index: number; reference: boolean }) {
  return (
    <li class="tile">
      <h3>
        <Swatch run={index} />
        {run.policy}
      </h3>
      <p class="tile-value">{duration(jctOf(run))}</p>
      {reference ? <p class="tile-change">average JCT (reference)</p> : <Change run={run} />}
      <dl>
        <dt>wait time</dt>
        <dd>{duration(figureOf(run, 'avg_wait_s'))}</dd>
        <dt>p99 JCT</dt>
        <dd>{duration(figureOf(run, 'p99_jct_s'))}</dd>
        <dt>GPU occupancy</dt>
        <dd>{percent(figureOf(run, 'gpu_occupancy'))}</dd>
        {Number.isFinite(kwhOf(run, HEADLINE)) && (
          <>
            <dt>energy ({HEADLINE})</dt>
            <dd>{kwhText(kwhOf(run, HEADLINE))}</dd>
          </>
        )}
      </dl>
    </li>
  );
}

/** The back-test: the simulator compared with the recorded start times. */
function BacktestBox({ backtest }: { backtest: Backtest }) {
  const [first, ...lines] = backtest.text.trim().split('\n');
  return (
    <div class="backtest">
      <h3>{first}</h3>
      <ul>
        {lines.map((line) => (
          <li key={line}>{line.trim()}</li>
        ))}
      </ul>
      <p class="hint">A gain no larger than this error is not claimed.</p>
    </div>
  );
}

const LEVELS = { info: 'Note', warning: 'Warning', error: 'Error' } as const;

function Notes({ notes }: { notes: Note[] }) {
  if (notes.length === 0) return null;
  return (
    <ul class="notes" aria-label="Notes">
      {notes.map((note, i) => (
        <li key={i} class={`note ${note.level}`}>
          <b>{LEVELS[note.level]}</b> {note.text}
        </li>
      ))}
    </ul>
  );
}

export function Verdict({ report }: { report: ReportDocument }) {
  return (
    <section class="verdict" aria-label="Result">
      <Answer report={report} />
      <h2 class="visually-hidden">Policies</h2>
      <ul class="tiles">
        {report.runs.map((run, index) => (
          <Tile key={run.policy} run={run} index={index} reference={index === report.reference} />
        ))}
      </ul>
      {report.backtest && <BacktestBox backtest={report.backtest} />}
      <Notes notes={report.notes} />
    </section>
  );
}
