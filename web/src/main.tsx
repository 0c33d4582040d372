import { render } from 'preact';
import 'uplot/dist/uPlot.min.css';
import './style/base.css';
import './style/report.css';
import './style/table.css';
import './style/energy.css';
import './style/print.css';
import { parseDocument } from './data/document';
import { Report } from './report/Report';
import { startTheme } from './theme';

const app = document.getElementById('app')!;
startTheme();
try {
  const report = parseDocument(document.getElementById('goban-report')?.textContent ?? '');
  document.title = `${report.title} – Goban`;
  app.replaceChildren();
  render(<Report report={report} />, app);
} catch (error) {
  const message = document.createElement('p');
  message.className = 'loading';
  message.setAttribute('role', 'alert');
  message.textContent = error instanceof Error ? error.message : String(error);
  app.replaceChildren(message);
}
