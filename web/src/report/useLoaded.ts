// Values that load asynchronously: packed columns are decoded after the first paint.
import { useEffect, useState } from 'preact/hooks';

/** Undefined until loaded. A failure is reported as an uncaught error of the page. */
export function useLoaded<T>(load: () => Promise<T>, inputs: unknown[]): T | undefined {
  const [value, setValue] = useState<T | undefined>(undefined);
  useEffect(() => {
    let wanted = true;
    load().then(
      (loaded) => {
        if (wanted) setValue(loaded);
      },
      (error: unknown) => reportError(error),
    );
    return () => {
      wanted = false;
    };
  }, inputs);
  return value;
}
