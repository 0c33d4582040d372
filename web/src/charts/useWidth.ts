// The current width of an element.
import type { RefObject } from 'preact';
import { useEffect, useState } from 'preact/hooks';

/** Width in CSS pixels; 0 before the first paint. */
export function useWidth(element: RefObject<HTMLElement>): number {
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const watched = element.current;
    if (!watched) return undefined;
    const resize = new ResizeObserver(() => setWidth(watched.clientWidth));
    resize.observe(watched);
    setWidth(watched.clientWidth);
    return () => resize.disconnect();
  }, []);
  return width;
}
