// The page of `goban analyze`: headline, contents, and sections in document order.
import { Brand } from '../Brand';
import type { AnalysisDocument } from '../data/analysis';
import { ThemeButton } from '../ThemeButton';
import { FigurePanel } from './FigurePanel';
import { Headline, Scalars } from './Numbers';
import { AbsentItems } from './Parts';
import { TablePanel } from './SortTable';
import { useWords, WordsContext, wordsOf } from './words';

interface Part {
  key: string;
  title: string;
}

function Top({ title }: { title: string }) {
  const words = useWords();
  return (
    <header class="top">
      <div class="top-row">
        <Brand product={words.product} />
        <ThemeButton words={words} />
      </div>
      <h1>{title}</h1>
    </header>
  );
}

function Contents({ parts }: { parts: Part[] }) {
  const words = useWords();
  return (
    <nav class="contents" aria-label={words.contents}>
      <h2>{words.contents}</h2>
      <ol>
        {parts.map((part) => (
          <li key={part.key}><a href={`#${part.key}`}>{part.title}</a></li>
        ))}
      </ol>
    </nav>
  );
}

function Remarks({ report }: { report: AnalysisDocument }) {
  const words = useWords();
  if (report.remarks.length === 0) return null;
  return (
    <div class="notes" role="group" aria-label={words.remarks}>
      {report.remarks.map((remark, i) => (
        <p key={i} class={`note ${remark.level}`}>
          <b>{remark.level === 'warning' ? words.warning : words.note}</b>
          {remark.text}
        </p>
      ))}
    </div>
  );
}

function SectionOf({ report, part }: { report: AnalysisDocument; part: Part }) {
  const of = <T extends { section: string }>(items: T[]) => items.filter((item) => item.section === part.key);
  const figures = of(report.figures);
  const tables = of(report.tables);
  const scalars = of(report.scalars);
  const named = (id: string) => tables.find((table) => table.id === id);
  const alone = tables.filter((table) => !figures.some((figure) => figure.id === table.id));
  return (
    <section id={part.key} class="section" aria-labelledby={`${part.key}-title`}>
      <h2 id={`${part.key}-title`}>{part.title}</h2>
      <div class="items">
        <Scalars scalars={scalars} section={part.key} />
        {figures.map((figure) => (
          <FigurePanel key={figure.id} figure={figure} numbers={named(figure.id)} />
        ))}
        {alone.map((table) => <TablePanel key={table.id} table={table} />)}
        <AbsentItems absent={of(report.absent)} />
      </div>
    </section>
  );
}

function About() {
  const words = useWords();
  return (
    <section id="about" class="section" aria-labelledby="about-title">
      <h2 id="about-title">{words.about}</h2>
      <ul class="panel about">{words.aboutText.map((line) => <li key={line}>{line}</li>)}</ul>
    </section>
  );
}

/** Non-empty sections, in document order. */
export function partsOf(report: AnalysisDocument): Part[] {
  const all = [report.scalars, report.tables, report.figures, report.absent].flat();
  return report.sections.filter((part) => all.some((item) => item.section === part.key));
}

export function Analysis({ report }: { report: AnalysisDocument }) {
  const words = wordsOf(report.language);
  const parts = partsOf(report);
  return (
    <WordsContext.Provider value={words}>
      <div class="analysis">
        <a class="skip" href="#results">{words.skip}</a>
        <Top title={report.title} />
        <main>
          <Remarks report={report} />
          <Headline scalars={report.scalars} />
          <div class="with-contents">
            <Contents parts={[...parts, { key: 'about', title: words.about }]} />
            <div id="results">
              {parts.map((part) => <SectionOf key={part.key} report={report} part={part} />)}
              <About />
            </div>
          </div>
        </main>
      </div>
    </WordsContext.Provider>
  );
}
