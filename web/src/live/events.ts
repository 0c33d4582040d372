// A parser of server-sent events. EventSource cannot be used because it cannot send a token.

export interface ServerEvent {
  name: string;
  data: string;
}

export class EventParser {
  private rest = '';
  private name = '';
  private data: string[] = [];

  /** Returns the events that `text` completes. */
  push(text: string): ServerEvent[] {
    const events: ServerEvent[] = [];
    const lines = (this.rest + text).split('\n');
    this.rest = lines.pop()!;
    for (const line of lines) {
      const event = this.line(line.endsWith('\r') ? line.slice(0, -1) : line);
      if (event) events.push(event);
    }
    return events;
  }

  private line(line: string): ServerEvent | undefined {
    if (line === '') {
      const event = { name: this.name || 'message', data: this.data.join('\n') };
      const complete = this.data.length > 0;
      this.name = '';
      this.data = [];
      return complete ? event : undefined;
    }
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'event') this.name = value;
    if (field === 'data') this.data.push(value);
    return undefined;
  }
}

/** Delay before reconnection attempt `attempt` (from 0), in ms. */
export function retryDelay(attempt: number): number {
  return Math.min(15_000, 500 * 2 ** attempt);
}
