// Writes a drawing as a stand-alone SVG file with title, legend and fixed colours.
import type { Drawing, Paint, Shape } from './drawing';
import { textWidth } from './scale';

export interface Colors {
  of: (paint: Paint) => string;
  heat: (share: number) => string;
}

export interface SvgLegendItem {
  label: string;
  color: Paint;
}

/** Escapes text for XML and replaces control characters, which XML does not allow. */
export function xml(text: string): string {
  return text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd')
    .replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

function element(shape: Shape, colors: Colors): string {
  const fill = shape.heat !== undefined ? colors.heat(shape.heat) : colors.of(shape.fill);
  const all: Record<string, string | number> = {
    fill, ...(shape.stroke ? { stroke: colors.of(shape.stroke) } : {}), ...shape.attributes,
  };
  const attributes = Object.entries(all).filter(([name, value]) => value !== '' && !name.startsWith('data-'))
    .map(([name, value]) => ` ${name}="${xml(String(value))}"`).join('');
  return shape.text === undefined
    ? `<${shape.tag}${attributes}/>`
    : `<${shape.tag}${attributes}>${xml(shape.text)}</${shape.tag}>`;
}

const TITLE = 34;
const LEGEND_LINE = 20;

export function svgFile(drawing: Drawing, title: string, legend: SvgLegendItem[], colors: Colors): string {
  const rows: string[] = [];
  let [x, y] = [12, TITLE + drawing.height + 14];
  for (const item of legend) {
    const width = 30 + textWidth(item.label);
    if (x > 12 && x + width > drawing.width - 8) [x, y] = [12, y + LEGEND_LINE];
    rows.push(`<rect x="${x}" y="${y - 10}" width="12" height="12" fill="${colors.of(item.color)}"/>` +
      `<text x="${x + 17}" y="${y}" font-size="12" fill="${colors.of('--text')}">${xml(item.label)}</text>`);
    x += width;
  }
  const height = legend.length > 0 ? y + 12 : TITLE + drawing.height;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${drawing.width}" height="${height}" ` +
    `viewBox="0 0 ${drawing.width} ${height}" font-family="system-ui, 'Noto Sans CJK JP', sans-serif">\n` +
    `<title>${xml(title)}</title>\n` +
    `<rect width="100%" height="100%" fill="${colors.of('--surface')}"/>\n` +
    `<text x="12" y="22" font-size="15" font-weight="600" fill="${colors.of('--text')}">${xml(title)}</text>\n` +
    `<g transform="translate(0 ${TITLE})">\n${drawing.shapes.map((shape) => element(shape, colors)).join('\n')}\n</g>\n` +
    `${rows.join('\n')}\n</svg>\n`;
}
