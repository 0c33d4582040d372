// Values that take a moment: packed columns are read after the first paint.
import { useEffect, useState } from 'preact/hooks';

/** Undefined until it is there. A failure goes to the window, as any other mistake of the page. */
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
