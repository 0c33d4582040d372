// Documents that begin with the name and version of their schema, such as "goban-live/1".

/** Whether the embedded text is a document of that schema, in any version. */
export function isOf(json: string, name: string): boolean {
  return new RegExp(`^\\s*\\{\\s*"schema"\\s*:\\s*"${name}/`).test(json);
}

/** Errors: throws a sentence for the reader if the document has another schema or version. */
export function parseOf<T extends { schema: string }>(json: string, schema: string): T {
  const document = JSON.parse(json) as T;
  if (document.schema !== schema) {
    throw new Error(`this page reads ${schema}, but its data is ${document.schema}`);
  }
  return document;
}
