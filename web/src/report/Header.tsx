// The page header: title, key facts, theme button, links to the sections.
import { Brand } from '../Brand';
import type { ReportDocument } from '../data/document';
import { hasColocation } from '../data/colocation';
import { hasEnergy } from '../data/energy';
import { count } from '../format';
import { hasService } from './figures';
import { ThemeButton } from '../ThemeButton';

function partsOf(report: ReportDocument): [string, string][] {
  const all: [string, string, boolean][] = [
    ['worth', 'Worth a year', report.worth !== undefined], ['compare', 'Comparison', true], ['service', 'Service targets', hasService(report)],
    ['times', 'JCT and wait time', true], ['load', 'Load', true], ['energy', 'Energy', hasEnergy(report)],
    ['heat', 'Heat map', true], ['colocation', 'Co-location', hasColocation(report)],
    ['groups', 'Job groups', true], ['jobs', 'Jobs', true], ['about', 'About', true],
  ];
  return all.filter(([, , there]) => there).map(([id, name]) => [id, name]);
}

function plural(value: number, noun: string): string {
  return `${count(value)} ${noun}${value === 1 ? '' : noun.endsWith('y') ? '' : 's'}`;
}

export function Header({ report }: { report: ReportDocument }) {
  const { cluster, runs } = report;
  return (
    <header class="top">
      <div class="top-row">
        <Brand product="simulation report" />
        <ThemeButton />
      </div>
      <h1>{report.title}</h1>
      <p class="facts">
        {plural(report.jobs, 'job')} · {plural(cluster.gpus, 'GPU')} in {plural(cluster.nodes, 'node')}{' '}
        · {runs.length} {runs.length === 1 ? 'policy' : 'policies'} · goban {report.goban}
      </p>
      <nav aria-label="Sections of this report">
        {partsOf(report).map(([id, name]) => (
          <a key={id} href={`#${id}`}>
            {name}
          </a>
        ))}
      </nav>
    </header>
  );
}
