// Small components that figures and tables share.
import type { ComponentChildren } from 'preact';
import type { Absent, Quality } from '../data/analysis';
import { count } from '../format';
import { useWords } from './words';

/** How many records the numbers are based on: a bar and a sentence. */
export function QualityLine({ quality }: { quality: Quality }) {
  const words = useWords();
  const { used, of, note } = quality;
  if (of === 0 && note === '') return null;
  const share = of > 0 ? used / of : 0;
  const digits = share > 0.9995 || share < 0.0005 ? 3 : 1;
  return (
    <p class="quality">
      {of > 0 && (
        <>
          <span class="quality-bar" aria-hidden="true">
            <i style={{ width: `${Math.max(share > 0 ? 2 : 0, 100 * share)}%` }} />
          </span>
          {used === of ? words.basedOnAll(count(of)) : words.basedOn(count(used), count(of), `${(100 * share).toFixed(digits)} %`)}
        </>
      )}
      {note !== '' && <span class="quality-note">{of > 0 ? '· ' : ''}{note}</span>}
    </p>
  );
}

/** Text in which backticks mark code. */
export function Text({ text }: { text: string }) {
  const pieces = text.split('`');
  return <>{pieces.map((piece, i) => (i % 2 === 1 && i < pieces.length - 1 ? <code key={i}>{piece}</code> : piece))}</>;
}

/** The header of a figure or table: title, number in the ABCI paper, how to read it, data quality. */
export function Head({ title, paper, text, quality, children }: {
  title: string; paper: string; text: string; quality: Quality; children?: ComponentChildren;
}) {
  const words = useWords();
  return (
    <div class="item-head">
      <div>
        <h3>
          {title}
          {paper !== '' && <small class="paper-tag">{words.inPaper(paper)}</small>}
        </h3>
        {text !== '' && <p class="how"><Text text={text} /></p>}
        <QualityLine quality={quality} />
      </div>
      <div class="item-tools">{children}</div>
    </div>
  );
}

export function AbsentItems({ absent }: { absent: Absent[] }) {
  const words = useWords();
  if (absent.length === 0) return null;
  return (
    <details class="panel absent" open={absent.length <= 3}>
      <summary>{words.notAvailable} ({absent.length})</summary>
      <dl>
        {absent.map((item) => (
          <div key={item.id}>
            <dt>{item.title}{item.paper !== '' && <small class="paper-tag">{words.inPaper(item.paper)}</small>}</dt>
            <dd><Text text={item.reason} /></dd>
          </div>
        ))}
      </dl>
    </details>
  );
}
