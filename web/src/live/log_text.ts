// The tail of a log as a terminal shows it: a carriage return overwrites the line. Colours are dropped.

const ESCAPES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007]*\u0007|[@-Z\\-_])/g;

export class LogTail {
  /** Complete lines, then the unfinished last line. */
  lines: string[] = [''];
  /** Number of lines dropped at the front. */
  dropped = 0;

  constructor(private readonly linesMax = 2000) {}

  append(text: string): void {
    const parts = (this.lines.pop()! + text).split('\n');
    for (const [i, part] of parts.entries()) {
      // The last part may continue, so its escape sequences may be incomplete.
      this.lines.push(i + 1 < parts.length ? LogTail.finish(part) : part);
    }
    const over = this.lines.length - this.linesMax;
    if (over > 0) {
      this.lines = this.lines.slice(over);
      this.dropped += over;
    }
  }

  text(): string {
    const last = this.lines.length - 1;
    return this.lines.map((line, i) => (i === last ? LogTail.finish(line) : line)).join('\n');
  }

  private static finish(line: string): string {
    const plain = line.replaceAll(ESCAPES, '').replace(/\r+$/, '');
    return plain.slice(plain.lastIndexOf('\r') + 1);
  }
}
