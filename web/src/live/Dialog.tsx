// A modal dialog. Esc closes it and restores the focus.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

export function Dialog({ label, onClose, children }: {
  label: string; onClose: () => void; children: ComponentChildren;
}) {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = element.current;
    dialog?.showModal();
    return () => dialog?.close();
  }, []);
  return (
    <dialog ref={element} aria-label={label} onCancel={(event) => {
      event.preventDefault();
      onClose();
    }}>
      {children}
    </dialog>
  );
}
