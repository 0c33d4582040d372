// Packed columns of a report document: byte planes, gzip, base64 (docs/report.md).

export type WholeType = 'u8' | 'u16' | 'u32';

export interface WholeColumn {
  type: WholeType;
  count: number;
  delta: boolean;
  data: string;
}

export interface FloatColumn {
  type: 'f32';
  count: number;
  delta: boolean;
  data: string;
}

export interface TextColumn {
  type: 'text';
  count: number;
  lengths: WholeColumn;
  data: string;
}

const WIDTH = { u8: 1, u16: 2, u32: 4, f32: 4 } as const;

async function unpack(data: string): Promise<Uint8Array<ArrayBuffer>> {
  const text = atob(data);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Joins byte planes: the first bytes of all values, then all second bytes, and so on. */
export function joinPlanes(bytes: Uint8Array, count: number, width: number): Uint32Array<ArrayBuffer> {
  if (bytes.length !== count * width) {
    throw new Error(`a column of ${count} values has ${bytes.length} bytes, not ${count * width}`);
  }
  const values = new Uint32Array(count);
  for (let plane = 0; plane < width; plane++) {
    const shift = 8 * plane;
    const start = plane * count;
    for (let i = 0; i < count; i++) values[i] = (values[i]! | (bytes[start + i]! << shift)) >>> 0;
  }
  return values;
}

export async function wholeValues(column: WholeColumn): Promise<Uint32Array> {
  const values = joinPlanes(await unpack(column.data), column.count, WIDTH[column.type]);
  if (column.delta) {
    for (let i = 1; i < values.length; i++) values[i] = values[i - 1]! + values[i]!;
  }
  return values;
}

export async function floatValues(column: FloatColumn): Promise<Float32Array> {
  return new Float32Array(
    joinPlanes(await unpack(column.data), column.count, WIDTH[column.type]).buffer,
  );
}

export async function textValues(column: TextColumn): Promise<string[]> {
  const [bytes, lengths] = await Promise.all([unpack(column.data), wholeValues(column.lengths)]);
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const whole = decoder.decode(bytes);
  // If every character is one byte, slicing the decoded text is ten times as fast.
  const oneByte = whole.length === bytes.length && !whole.includes('\uFFFD');
  const values: string[] = [];
  let at = 0;
  for (const length of lengths) {
    values.push(
      oneByte ? whole.slice(at, at + length) : decoder.decode(bytes.subarray(at, at + length)),
    );
    at += length;
  }
  return values;
}
