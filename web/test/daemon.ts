// A real `goban serve` with virtual GPUs in a temporary folder, and requests to it.
import { spawn, type ChildProcess } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';

export class Daemon {
  readonly token = randomBytes(16).toString('hex');
  url = '';
  private readonly folder = mkdtempSync(join(tmpdir(), 'goban-e2e-'));
  private process: ChildProcess | null = null;
  private said = '';

  async start(gpus: number): Promise<void> {
    const program = process.env['GOBAN'];
    if (!program) throw new Error('GOBAN is not set; ctest sets it (cmake/web.cmake)');
    const digest = createHash('sha256').update(this.token).digest('hex');
    writeFileSync(join(this.folder, 'tokens'), `${digest} operator ${userInfo().username}\n`, { mode: 0o600 });
    writeFileSync(join(this.folder, 'goban.toml'), [
      'state = "state"', 'policy = "las+pal"', `virtual_gpus = ${gpus}`, 'energy = "v100"',
      '[service]', 'socket = "goban.sock"', 'listen = "127.0.0.1:0"', 'tokens = "tokens"',
    ].join('\n'));
    const daemon = spawn(program, ['serve', '--config', join(this.folder, 'goban.toml')],
      { stdio: ['ignore', 'pipe', 'pipe'] });
    this.process = daemon;
    daemon.stderr.on('data', (data: Buffer) => (this.said += data.toString()));
    this.url = await new Promise<string>((resolve, reject) => {
      let out = '';
      daemon.stdout.on('data', (data: Buffer) => {
        out += data.toString();
        const found = /^dashboard: (http:\S+)$/m.exec(out);
        if (found) resolve(found[1]!);
      });
      daemon.on('exit', () => reject(new Error(`the daemon exited: ${this.said}`)));
    });
  }

  /** Cancels all jobs, waits until they finish, and stops the daemon. */
  async stop(): Promise<void> {
    const daemon = this.process;
    this.process = null;
    if (!daemon || daemon.exitCode !== null) return;
    try {
      for (const job of await this.unfinished()) await this.ask('DELETE', `/v1/jobs/${job}`);
      while ((await this.unfinished()).length > 0) await new Promise((resolve) => setTimeout(resolve, 50));
    } finally {
      await new Promise<void>((resolve) => {
        daemon.on('exit', () => resolve());
        daemon.kill('SIGTERM');
      });
      rmSync(this.folder, { recursive: true, force: true });
    }
  }

  async ask(method: string, path: string, body?: unknown): Promise<unknown> {
    const answer = await fetch(this.url + path.slice(1), {
      method, headers: { Authorization: `Bearer ${this.token}` },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return JSON.parse(text) as unknown;
  }

  /** Returns the number of the new job. */
  async submit(script: string, more: object = {}): Promise<number> {
    const made = await this.ask('POST', '/v1/jobs', {
      script: `#!/bin/sh\n${script}\n`, num_gpus: 1, work_folder: this.folder, stop: { grace_s: 1 }, ...more,
    });
    return (made as { job: number }).job;
  }

  private async unfinished(): Promise<number[]> {
    const { jobs } = await this.ask('GET', '/v1/jobs?all=1') as { jobs: { job: number; state: string }[] };
    return jobs.filter(({ state }) => state !== 'done').map(({ job }) => job);
  }
}
