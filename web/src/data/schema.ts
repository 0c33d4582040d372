// Documents that start with the name and version of their schema, such as "goban-live/1".
import { parseVisible } from './visible';

/** Whether the text is a document of the schema `name`, of any version. */
export function isOf(json: string, name: string): boolean {
  return new RegExp(`^\\s*\\{\\s*"schema"\\s*:\\s*"${name}/`).test(json);
}

/** Parses a document. Errors: throws if it has another schema or version. */
export function parseOf<T extends { schema: string }>(json: string, schema: string): T {
  const document = parseVisible(json) as T;
  if (document.schema !== schema) {
    throw new Error(`this page reads ${schema}, but its data is ${document.schema}`);
  }
  return document;
}
