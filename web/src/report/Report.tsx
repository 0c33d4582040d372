// The page of a simulation report.
import { useState } from 'preact/hooks';
import { argMin } from '../data/compare';
import { mostShared } from '../data/colocation';
import { figureOf, type ReportDocument } from '../data/document';
import { About } from './About';
import { ColocationSection } from './ColocationSection';
import { Distributions } from './Distributions';
import { EnergySection } from './EnergySection';
import { FigureTable } from './FigureTable';
import { Groups } from './Groups';
import { Header } from './Header';
import { HeatSection } from './HeatSection';
import { JobSection } from './JobSection';
import { Load } from './Load';
import { PolicyBar } from './PolicyBar';
import { ServiceTable } from './ServiceTable';
import { Verdict } from './Verdict';
import { WorthPage } from './WorthPage';

export function Report({ report }: { report: ReportDocument }) {
  const policies = report.runs.map((run) => run.policy);
  const [visible, setVisible] = useState(policies.map(() => true));
  const best = Math.max(0, argMin(report.runs.map((run) => figureOf(run, 'avg_jct_s'))));
  const toggle = (run: number) => setVisible(visible.map((shown, i) => (i === run ? !shown : shown)));
  return (
    <>
      <a class="skip" href="#compare">
        Skip to the results
      </a>
      <Header report={report} />
      <main>
        <WorthPage report={report} />
        <Verdict report={report} />
        <FigureTable report={report} />
        <ServiceTable report={report} />
        <PolicyBar policies={policies} visible={visible} onToggle={toggle} />
        <Distributions report={report} visible={visible} />
        <Load report={report} visible={visible} />
        <EnergySection report={report} visible={visible} />
        <HeatSection report={report} first={best} />
        <ColocationSection report={report} first={mostShared(report)} />
        <Groups report={report} />
        <JobSection report={report} first={best} />
        <About report={report} />
      </main>
    </>
  );
}
