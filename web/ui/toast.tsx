import { useEffect, useRef, useSyncExternalStore } from 'react';
import { IconButton, LinkButton } from './button.tsx';
import { Glyph, type Tone } from './status.tsx';

interface Toast {
  id: number;
  tone: Tone;
  text: string;
  /** Where to look further. */
  link?: { to: string; label: string };
}

let toasts: readonly Toast[] = [];
let last = 0;
const listeners = new Set<() => void>();

const set = (next: readonly Toast[]): void => {
  toasts = next;
  for (const listener of listeners) listener();
};

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

const SHOWN_MS = 6000;
const MOST = 4;

/** Says in passing what has happened. What must not be missed belongs into the page instead. */
export const toast = (tone: Tone, text: string, link?: Toast['link']): void => {
  last += 1;
  set([...toasts.slice(1 - MOST), { id: last, tone, text, ...(link !== undefined && { link }) }]);
};

export const Toasts = () => {
  const shown = useSyncExternalStore(subscribe, () => toasts);
  const ref = useRef<HTMLDivElement>(null);
  // Shown anew each time, to lie above a dialog that was opened meanwhile.
  useEffect(() => {
    ref.current?.hidePopover();
    if (shown.length > 0) ref.current?.showPopover();
  }, [shown]);
  return (
    <div ref={ref} popover="manual" className="toasts" role="status" aria-live="polite">
      {shown.map((each) => (
        <OneToast key={each.id} toast={each} />
      ))}
    </div>
  );
};

const OneToast = ({ toast: { id, tone, text, link } }: { toast: Toast }) => {
  const drop = (): void => set(toasts.filter((each) => each.id !== id));
  useEffect(() => {
    const timer = setTimeout(drop, SHOWN_MS);
    return () => clearTimeout(timer);
  });
  return (
    <div className="toast">
      <span className="row grow">
        <Glyph tone={tone} />
        <span className="grow">{text}</span>
      </span>
      {link !== undefined && (
        <LinkButton to={link.to} slim look="quiet">
          {link.label}
        </LinkButton>
      )}
      <IconButton icon="close" label="Dismiss" slim onClick={drop} />
    </div>
  );
};
