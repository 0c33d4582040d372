// Scalars: the headline tiles, and the list of a section with the values of ABCI.
import { cellText, numberText, valueText } from '../charts/figure/numbers';
import { headlines, type Scalar, scalarsCsv } from '../data/analysis';
import { QualityLine } from './Parts';
import { save } from './save';
import { useWords } from './words';

const HEADLINES_MOST = 8;

function text({ value, unit }: Scalar): string {
  return typeof value === 'number' ? valueText(value, unit) : cellText(value);
}

/** Hours below one are shown as minutes. */
function short({ value, unit }: Scalar): { value: string; unit: string } {
  if (typeof value !== 'number') return { value: cellText(value), unit: '' };
  if (unit === 'h' && value > 0 && value < 1) return { value: numberText(60 * value), unit: 'min' };
  return { value: numberText(value), unit };
}

export function Headline({ scalars }: { scalars: Scalar[] }) {
  const words = useWords();
  const shown = headlines(scalars, HEADLINES_MOST);
  if (shown.length === 0) return null;
  return (
    <section id="headline" aria-label={words.headline}>
      <h2 class="visually-hidden">{words.headline}</h2>
      <div class="tiles headline">
        {shown.map((scalar) => {
          const { value, unit } = short(scalar);
          return (
            <div key={scalar.key} class="tile">
              <h3>{scalar.label}</h3>
              <p class="tile-value">{value}{unit !== '' && <small> {unit}</small>}</p>
              <p class="tile-change">{scalar.paper !== '' && words.paper(scalar.paper)}</p>
            </div>
          );
        })}
      </div>
    </section>
  );
}

export function Scalars({ scalars, section }: { scalars: Scalar[]; section: string }) {
  const words = useWords();
  if (scalars.length === 0) return null;
  return (
    <div class="panel item scalars">
      <div class="item-head">
        <h3>{words.numbers}</h3>
        <div class="item-tools">
          <button type="button" class="save" aria-label={`${words.saveCsv}: ${words.numbers}`}
            onClick={() => save(`${section}.csv`, 'text/csv;charset=utf-8', scalarsCsv(scalars))}>
            ↓ {words.saveCsv}
          </button>
        </div>
      </div>
      <dl>
        {scalars.map((scalar) => (
          <div key={scalar.key}>
            <dt>
              {scalar.label}{scalar.text !== '' && <small>{scalar.text}</small>}
              <QualityLine quality={scalar.quality} />
            </dt>
            <dd>
              <b>{text(scalar)}</b>
              {scalar.paper !== '' && <small>{words.paper(scalar.paper)}</small>}
            </dd>
          </div>
        ))}
      </dl>
    </div>
  );
}
