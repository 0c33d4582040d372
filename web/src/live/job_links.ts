// Links to experiment trackers that a job wrote to its log: Weights & Biases, MLflow and others that
// announce a run in the same way.

export interface JobLink {
  name: string;
  url: string;
}

/** A log is not trusted: only addresses of the web, of a sensible length, without a user's name or password. */
const URL_TEXT = /https?:\/\/[^\s"'<>\\^`{|}\u0000-\u001f]{3,500}/g;
const ESCAPES = /\u001b\[[0-?]*[ -/]*[@-~]/g;

function trackerOf(url: URL, line: string): string | null {
  if (/(^|\.)wandb\.ai$/.test(url.hostname) || /^wandb:/.test(line.trim())) {
    return /\/runs\//.test(url.pathname) ? 'Weights & Biases' : null;
  }
  if (/^#\/experiments\/\d+\/runs\/\w+/.test(url.hash)) return 'MLflow';
  if (/View (?:run|experiment)/i.test(line)) return url.hostname;
  return null;
}

/** At most eight, in the order of the log, each address once. */
export function linksIn(log: string): JobLink[] {
  const found = new Map<string, JobLink>();
  for (const line of log.replaceAll(ESCAPES, '').split('\n')) {
    for (const [text] of line.matchAll(URL_TEXT)) {
      const plain = text.replace(/[).,;:!?]+$/, '');
      if (!URL.canParse(plain)) continue;
      const url = new URL(plain);
      if (url.username || url.password) continue;
      const name = trackerOf(url, line);
      if (name !== null && found.size < 8 && !found.has(url.href)) found.set(url.href, { name, url: url.href });
    }
  }
  return [...found.values()];
}
