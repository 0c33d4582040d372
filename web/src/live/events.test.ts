import { describe, expect, it } from 'vitest';
import { EventParser, retryDelay } from './events';

describe('server-sent events', () => {
  it('come out of pieces of any size', () => {
    const text = 'id: 1\nevent: hello\ndata: {"version":1}\n\n: still here\n\nevent: change\r\ndata: a\r\ndata: b\r\n\r\n';
    for (const size of [1, 2, 3, 7, 100]) {
      const parser = new EventParser();
      const events = [];
      for (let at = 0; at < text.length; at += size) events.push(...parser.push(text.slice(at, at + size)));
      expect(events, `pieces of ${size}`).toEqual([
        { name: 'hello', data: '{"version":1}' }, { name: 'change', data: 'a\nb' },
      ]);
    }
  });

  it('wait longer after each failure, and never too long', () => {
    const delays = [0, 1, 2, 3, 4, 5, 50].map(retryDelay);
    expect(delays.slice(0, 3)).toEqual([500, 1000, 2000]);
    expect(delays.at(-1)).toBe(15_000);
  });
});
