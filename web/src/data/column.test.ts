import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { floatValues, joinPlanes, textValues, wholeValues } from './column';

const pack = (bytes: Uint8Array) => gzipSync(bytes).toString('base64');

describe('columns', () => {
  it('joins byte planes, also where the highest bit is set', () => {
    const bytes = Uint8Array.of(1, 255, 2, 255, 0, 255, 0, 255);
    expect([...joinPlanes(bytes, 2, 4)]).toEqual([0x00000201, 0xffffffff]);
    expect(() => joinPlanes(bytes, 3, 4)).toThrow(/8 bytes, not 12/);
  });

  it('reads narrow and delta-coded numbers', async () => {
    const data = pack(Uint8Array.of(10, 0, 5));
    expect([...(await wholeValues({ type: 'u8', count: 3, delta: false, data }))]).toEqual([10, 0, 5]);
    expect([...(await wholeValues({ type: 'u8', count: 3, delta: true, data }))]).toEqual([10, 10, 15]);
  });

  it('reads floats', async () => {
    const bytes = new Uint8Array(new Float32Array([0.5, -2]).buffer);
    const planes = Uint8Array.from([0, 1, 2, 3].flatMap((plane) => [bytes[plane]!, bytes[4 + plane]!]));
    const column = { type: 'f32', count: 2, delta: false, data: pack(planes) } as const;
    expect([...(await floatValues(column))]).toEqual([0.5, -2]);
  });

  it.each([
    [['a', '', 'bc']],
    [['ä€', '</script>', '𝄞']],
    [['x\ny', 'z\0']],
    [[]],
  ])('reads strings %j', async (names: string[]) => {
    const encoder = new TextEncoder();
    const parts = names.map((name) => encoder.encode(name));
    const lengths = Uint8Array.from(parts, (part) => part.length);
    const column = {
      type: 'text', count: names.length, data: pack(Buffer.concat(parts)),
      lengths: { type: 'u8', count: names.length, delta: false, data: pack(lengths) },
    } as const;
    expect(await textValues(column)).toEqual(names);
  });

  it('shows bytes that are no UTF-8 as such', async () => {
    const column = {
      type: 'text', count: 2, data: pack(Uint8Array.of(0xff, 0x61)),
      lengths: { type: 'u8', count: 2, delta: false, data: pack(Uint8Array.of(1, 1)) },
    } as const;
    expect(await textValues(column)).toEqual(['\uFFFD', 'a']);
  });
});
