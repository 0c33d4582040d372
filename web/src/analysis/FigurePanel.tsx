// A figure with its controls: series, linear or logarithmic scales, SVG and CSV export, data table.
import { useMemo, useRef, useState } from 'preact/hooks';
import { draw, switchesOf } from '../charts/figure/draw';
import { FigureChart } from '../charts/figure/FigureChart';
import { svgFile } from '../charts/figure/svg';
import { useWidth } from '../charts/useWidth';
import { type Figure, figureCsv, type Table } from '../data/analysis';
import { lineColor } from '../palette';
import { Swatch } from '../Swatch';
import { Head } from './Parts';
import { lightColors, save } from './save';
import { Rows, SaveTable } from './SortTable';
import { useWords } from './words';

function ScaleSwitch({ name, log, onChange }: { name: string; log: boolean; onChange: (log: boolean) => void }) {
  const words = useWords();
  return (
    <button type="button" class="scale-switch" aria-pressed={log} onClick={() => onChange(!log)}>
      {name}: {log ? words.log : words.linear}
    </button>
  );
}

function Legend({ figure, hidden, onToggle }: {
  figure: Figure; hidden: ReadonlySet<number>; onToggle: (series: number) => void;
}) {
  const words = useWords();
  const line = figure.kind === 'line' || figure.kind === 'step';
  return (
    <div class="legend" role="group" aria-label={words.series}>
      {figure.series.map((series, i) => (
        <button key={series.key} type="button" class="policy" aria-pressed={!hidden.has(i)}
          onClick={() => onToggle(i)}>
          {line ? (
            <Swatch run={i} />
          ) : (
            <svg class="swatch" width="12" height="12" aria-hidden="true">
              <rect width="12" height="12" rx="2" fill={`var(${lineColor(i)})`} />
            </svg>
          )}
          {series.label}
        </button>
      ))}
    </div>
  );
}

const FILE_WIDTH = 760;

export function FigurePanel({ figure, numbers }: { figure: Figure; numbers: Table | undefined }) {
  const words = useWords();
  const host = useRef<HTMLDivElement>(null);
  const width = useWidth(host);
  const switches = useMemo(() => switchesOf(figure), [figure]);
  const [hidden, setHidden] = useState<ReadonlySet<number>>(new Set());
  const [xLog, setXLog] = useState(figure.x.scale === 'log');
  const [yLog, setYLog] = useState(figure.y.scale === 'log');
  const options = { xLog, yLog, hidden, words };
  const drawing = useMemo(
    () => (width > 0 ? draw(figure, { ...options, width }) : null), [figure, width, xLog, yLog, hidden, words]);
  const legend = figure.kind !== 'heatmap' && figure.series.length > 1;
  const toggle = (series: number) => {
    const next = new Set(hidden);
    if (!next.delete(series)) next.add(series);
    setHidden(next);
  };
  const saveSvg = () => {
    const items = legend
      ? figure.series.map(({ label }, i) => ({ label, color: lineColor(i), series: i }))
        .filter((item) => !hidden.has(item.series))
      : [];
    save(`${figure.id}.svg`, 'image/svg+xml',
      svgFile(draw(figure, { ...options, width: FILE_WIDTH }), figure.title, items, lightColors()));
  };
  return (
    <figure class="panel item" id={`figure-${figure.id}`} data-kind={figure.kind}>
      <Head {...figure}>
        <button type="button" class="save" aria-label={`${words.saveSvg}: ${figure.title}`} onClick={saveSvg}>
          ↓ {words.saveSvg}
        </button>
        <button type="button" class="save" aria-label={`${words.saveCsv}: ${figure.title}`}
          onClick={() => save(`${figure.id}.csv`, 'text/csv;charset=utf-8', figureCsv(figure))}>
          ↓ {words.saveCsv}
        </button>
      </Head>
      <div class="figure-controls">
        {legend && <Legend figure={figure} hidden={hidden} onToggle={toggle} />}
        {switches.x && <ScaleSwitch name={words.logOf(figure.x.label)} log={xLog} onChange={setXLog} />}
        {switches.y && (
          <ScaleSwitch name={figure.kind === 'heatmap' ? words.logColors : words.logOf(figure.y.label)}
            log={yLog} onChange={setYLog} />
        )}
      </div>
      <div class="drawing-place" ref={host}>
        {drawing && <FigureChart drawing={drawing} label={`${figure.title}. ${figure.text}`} hint={words.hint} />}
      </div>
      {numbers && (
        <details class="numbers" open={!numbers.detail}>
          <summary>{words.numbersOf}</summary>
          <SaveTable table={numbers} />
          <Rows table={numbers} />
        </details>
      )}
    </figure>
  );
}
