import { viteSingleFile } from 'vite-plugin-singlefile';
import { defineConfig } from 'vitest/config';
import { contentSecurity } from './content_security';

const LIVE = 'test/dashboard*.test.ts';
const PATIENT = { testTimeout: 120_000, hookTimeout: 120_000 };

export default defineConfig({
  plugins: [viteSingleFile({ removeViteModuleLoader: true }), contentSecurity()],
  build: { target: 'es2022', modulePreload: false },
  test: {
    fileParallelism: false,
    projects: [
      { test: { name: 'unit', include: ['src/**/*.test.ts'] } },
      { test: { name: 'browser', include: ['test/*.test.ts'], exclude: [LIVE], ...PATIENT } },
      { test: { name: 'live', include: [LIVE], ...PATIENT } },
    ],
  },
});
