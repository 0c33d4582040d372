// Adds a Content-Security-Policy to the built page: only the built script runs, and the page fetches
// nothing. Text from a job history cannot become code even if it escapes from its element.
import { createHash } from 'node:crypto';
import type { Plugin } from 'vite';

export function contentSecurity(): Plugin {
  return {
    name: 'content-security',
    enforce: 'post',
    apply: 'build',
    generateBundle(_options, bundle) {
      for (const file of Object.values(bundle)) {
        if (file.type !== 'asset' || !file.fileName.endsWith('.html')) continue;
        const page = String(file.source);
        const scripts = [...page.matchAll(/<script type="module"[^>]*>([\s\S]*?)<\/script>/g)];
        if (scripts.length !== 1) throw new Error(`${scripts.length} scripts in the page, not 1`);
        const hash = createHash('sha256').update(scripts[0]![1]!).digest('base64');
        const policy =
          `default-src 'none'; script-src 'sha256-${hash}'; style-src 'unsafe-inline'; ` +
          `img-src data:; base-uri 'none'; form-action 'none'`;
        const meta = `<meta http-equiv="Content-Security-Policy" content="${policy}" />`;
        file.source = page.replace('<head>', () => `<head>\n    ${meta}`);
      }
    },
  };
}
