// The answer in one sentence, how far to trust it, and the policies side by side.
import { type Backtest, figureOf, type Note, type ReportDocument, type Run } from '../data/document';
import { argMin, ratio, withinError } from '../data/compare';
import { change, duration, percent } from '../format';
import { Swatch } from './Swatch';

const jctOf = (run: Run) => figureOf(run, 'avg_jct_s');

/** What the best average costs, if some jobs pay for it. */
function Price({ best, first }: { best: Run; first: Run }) {
  const slowest = figureOf(best, 'p99_jct_s');
  const before = figureOf(first, 'p99_jct_s');
  if (!(slowest > 1.05 * before)) return null;
  return (
    <>
      {' '}
      The price: one job in a hundred takes longer than <b class="loss">{duration(slowest)}</b>, not{' '}
      {duration(before)}.
    </>
  );
}

function Answer({ report }: { report: ReportDocument }) {
  const [first] = report.runs;
  const best = report.runs[argMin(report.runs.map(jctOf))];
  if (!first || !best) return null;
  const gain = ratio(jctOf(best), jctOf(first)) - 1;
  const error = report.backtest?.jct_error;
  if (best === first || withinError(gain, error)) {
    const why = best === first ? '' : ', as far as the error of the simulation allows to say';
    return (
      <p class="answer">
        No policy beats <b>{first.policy}</b>
        {why}: jobs take <b>{duration(jctOf(first))}</b> on average.
      </p>
    );
  }
  return (
    <p class="answer">
      Jobs are done soonest under <b>{best.policy}</b>: <b>{duration(jctOf(best))}</b> on average,{' '}
      <b class="gain">{percent(-gain)} below</b> {first.policy}.
      <Price best={best} first={first} />
    </p>
  );
}

function Tile({ run, index, first, error }: {
  run: Run; index: number; first: Run; error: number | undefined;
}) {
  const jct = jctOf(run);
  const relative = ratio(jct, jctOf(first));
  const unproven = index > 0 && withinError(relative - 1, error);
  const tone = index === 0 || unproven ? '' : relative < 1 ? 'gain' : 'loss';
  return (
    <li class="tile">
      <h3>
        <Swatch run={index} />
        {run.policy}
      </h3>
      <p class="tile-value">{duration(jct)}</p>
      <p class={`tile-change ${tone}`}>
        {index === 0 ? 'average JCT' : `${change(relative)} JCT`}
        {unproven && ' (within the error)'}
      </p>
      <dl>
        <dt>wait</dt>
        <dd>{duration(figureOf(run, 'avg_wait_s'))}</dd>
        <dt>p99 JCT</dt>
        <dd>{duration(figureOf(run, 'p99_jct_s'))}</dd>
        <dt>GPUs held</dt>
        <dd>{percent(figureOf(run, 'gpu_occupancy'))}</dd>
      </dl>
    </li>
  );
}

function BacktestBox({ backtest }: { backtest: Backtest }) {
  return (
    <div class="backtest">
      <h3>Back-test</h3>
      <p>{backtest.text}</p>
      {backtest.figures.length > 0 && (
        <dl>
          {backtest.figures.map((figure) => (
            <div key={figure.name}>
              <dt>{figure.name}</dt>
              <dd>{figure.value}</dd>
            </div>
          ))}
        </dl>
      )}
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
  const [first] = report.runs;
  if (!first) return null;
  return (
    <section class="verdict" aria-label="Result">
      <Answer report={report} />
      {report.backtest && <BacktestBox backtest={report.backtest} />}
      <ul class="tiles">
        {report.runs.map((run, index) => (
          <Tile key={run.policy} run={run} index={index} first={first}
            error={report.backtest?.jct_error} />
        ))}
      </ul>
      <Notes notes={report.notes} />
    </section>
  );
}
