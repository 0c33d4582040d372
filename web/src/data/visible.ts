// Untrusted text on a page: characters that change how other text is shown are made visible.

/** Bidirectional formatting characters (Unicode Standard Annex 9), line and paragraph separators. */
const MISLEADING = /[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
/** The same in JSON, where they may also be written as escape sequences. */
const MAY_MISLEAD = /[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]|\\u(061c|20[026])/i;

/** The text with \uNNNN for each misleading character. */
export function visible(text: string): string {
  return text.replace(MISLEADING, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Parses JSON; all its strings are visible(). */
export function parseVisible(json: string): unknown {
  if (!MAY_MISLEAD.test(json)) return JSON.parse(json);
  return JSON.parse(json, (_, value: unknown) => (typeof value === 'string' ? visible(value) : value));
}
