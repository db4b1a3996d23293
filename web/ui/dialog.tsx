import { useEffect, useId, useRef, type ReactNode } from 'react';
import { IconButton } from './button.tsx';

interface DialogProps {
  title: string;
  onClose: () => void;
  children: ReactNode;
  footer?: ReactNode;
  wide?: boolean;
  /** Wraps body and footer in a form. */
  onSubmit?: () => void;
}

/**
 * A modal dialog, shown while it is mounted. The browser's own: focus stays inside, what lies behind is inert, Escape
 * closes, and focus goes back to where it was.
 */
export const Dialog = ({ title, onClose, children, footer, wide = false, onSubmit }: DialogProps) => {
  const ref = useModal(onClose);
  const id = useId();
  const content = (
    <>
      <div className="body">{children}</div>
      {footer !== undefined && <footer>{footer}</footer>}
    </>
  );
  return (
    <dialog ref={ref} className={wide ? 'dialog wide' : 'dialog'} aria-labelledby={id}>
      <header>
        <h2 id={id} className="grow">
          {title}
        </h2>
        <IconButton icon="close" label="Close" onClick={onClose} />
      </header>
      {onSubmit === undefined ? (
        content
      ) : (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            onSubmit();
          }}
        >
          {content}
        </form>
      )}
    </dialog>
  );
};

/** Makes a `<dialog>` modal while it is mounted; Escape and a press beside it call `onClose`. */
export const useModal = (onClose: () => void) => {
  const ref = useRef<HTMLDialogElement>(null);
  const close = useRef(onClose);
  close.current = onClose;
  useEffect(() => {
    const dialog = ref.current;
    if (dialog === null) return undefined;
    const before = document.activeElement;
    dialog.showModal();
    const onCancel = (event: Event): void => {
      event.preventDefault();
      close.current();
    };
    // Only a press that begins on the backdrop: one that selects text may end there.
    const onPress = (event: PointerEvent): void => {
      if (event.target === dialog && beside(dialog, event)) close.current();
    };
    dialog.addEventListener('cancel', onCancel);
    dialog.addEventListener('pointerdown', onPress);
    return () => {
      dialog.removeEventListener('cancel', onCancel);
      dialog.removeEventListener('pointerdown', onPress);
      dialog.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return ref;
};

const beside = (dialog: HTMLElement, { clientX, clientY }: PointerEvent): boolean => {
  const box = dialog.getBoundingClientRect();
  return clientX < box.left || clientX > box.right || clientY < box.top || clientY > box.bottom;
};
