import { render } from 'preact';
import type { JSX } from 'preact';
import 'uplot/dist/uPlot.min.css';
import './style/base.css';
import './style/frame.css';
import './style/result.css';
import './style/report.css';
import './style/table.css';
import './style/jobs.css';
import './style/energy.css';
import './style/analysis.css';
import './style/items.css';
import './style/analysis_narrow.css';
import './style/live.css';
import './style/cluster.css';
import './style/queue.css';
import './style/job.css';
import './style/forms.css';
import './style/overview.css';
import './style/live_narrow.css';
import './style/print.css';
import { Analysis } from './analysis/Analysis';
import { isAnalysis, parseAnalysis } from './data/analysis';
import { parseDocument } from './data/document';
import { Live } from './live/Live';
import { isLive, parseFacts } from './live/shapes';
import { Report } from './report/Report';
import { startTheme } from './theme';

/** The page for the embedded document. The document's schema selects it. */
function pageOf(json: string): { title: string; language: string; page: JSX.Element } {
  if (isAnalysis(json)) {
    const report = parseAnalysis(json);
    return { title: report.title, language: report.language, page: <Analysis report={report} /> };
  }
  if (isLive(json)) return { title: 'live', language: 'en', page: <Live facts={parseFacts(json)} /> };
  const report = parseDocument(json);
  return { title: report.title, language: 'en', page: <Report report={report} /> };
}

const app = document.getElementById('app')!;
startTheme();
try {
  const { title, language, page } = pageOf(document.getElementById('goban-report')?.textContent ?? '');
  document.title = `${title} – Goban`;
  document.documentElement.lang = language;
  app.replaceChildren();
  render(page, app);
} catch (error) {
  const message = document.createElement('p');
  message.className = 'loading';
  message.setAttribute('role', 'alert');
  message.textContent = error instanceof Error ? error.message : String(error);
  app.replaceChildren(message);
}
