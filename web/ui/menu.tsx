import { useEffect, useId, useLayoutEffect, useRef, useState, type KeyboardEvent, type ReactNode } from 'react';
import { useLocation } from 'wouter';
import { Icon, type IconName } from './icons.tsx';

export type MenuItem =
  | { kind?: 'action'; label: ReactNode; icon?: IconName; danger?: boolean; onSelect: () => void }
  | { kind: 'link'; label: ReactNode; icon?: IconName; to: string }
  | { kind: 'choice'; label: ReactNode; icon?: IconName; chosen: boolean; onSelect: () => void }
  | { kind: 'rule' }
  | { kind: 'label'; label: string };

/** What the button that opens the menu has to carry. */
export interface MenuTrigger {
  id: string;
  'aria-haspopup': 'menu';
  'aria-expanded': boolean;
  'aria-controls': string;
  onClick: () => void;
  onKeyDown: (event: KeyboardEvent) => void;
}

interface MenuProps {
  items: readonly MenuItem[];
  trigger: (props: MenuTrigger) => ReactNode;
}

const ITEMS = '[role="menuitem"],[role="menuitemradio"]';

/** The button of a menu; it is the page's own, so that it is found by its id. */
const buttonOf = (id: string): HTMLElement | null => document.getElementById(`${id}-button`);

/** A menu button after the WAI-ARIA pattern: arrows, Home, End, letters, Escape. */
export const Menu = ({ items, trigger }: MenuProps) => {
  const id = useId();
  const [open, setOpen] = useState(false);
  const [, navigate] = useLocation();
  const ref = useRef<HTMLDivElement>(null);

  const close = (): void => {
    setOpen(false);
    buttonOf(id)?.focus();
  };
  useLayoutEffect(() => {
    const menu = ref.current;
    const anchor = buttonOf(id);
    if (!open || menu === null || anchor === null) return;
    menu.showPopover();
    place(menu, anchor);
    menu.querySelector<HTMLElement>(ITEMS)?.focus();
  }, [open, id]);
  useEffect(() => {
    if (!open) return undefined;
    const away = (event: Event): void => {
      const { target } = event;
      if (target instanceof Node && (ref.current?.contains(target) === true || buttonOf(id)?.contains(target) === true))
        return;
      setOpen(false);
    };
    const gone = (): void => setOpen(false);
    document.addEventListener('pointerdown', away);
    globalThis.addEventListener('resize', gone);
    return () => {
      document.removeEventListener('pointerdown', away);
      globalThis.removeEventListener('resize', gone);
    };
  }, [open, id]);

  const select = (item: MenuItem): void => {
    close();
    if (item.kind === 'link') navigate(item.to);
    else if (item.kind !== 'rule' && item.kind !== 'label') item.onSelect();
  };
  return (
    <>
      {trigger({
        id: `${id}-button`,
        'aria-haspopup': 'menu',
        'aria-expanded': open,
        'aria-controls': id,
        onClick: () => setOpen(!open),
        onKeyDown: (event) => {
          if (event.key !== 'ArrowDown') return;
          event.preventDefault();
          setOpen(true);
        },
      })}
      {open && (
        <div
          ref={ref}
          id={id}
          role="menu"
          tabIndex={-1}
          popover="manual"
          className="menu"
          aria-labelledby={`${id}-button`}
          onKeyDown={(event) => moveByKey(event, close)}
        >
          {items.map((item, index) => (
            // Items have no other name than their place.
            // oxlint-disable-next-line react/no-array-index-key
            <Entry key={index} item={item} onSelect={() => select(item)} />
          ))}
        </div>
      )}
    </>
  );
};

const Entry = ({ item, onSelect }: { item: MenuItem; onSelect: () => void }) => {
  if (item.kind === 'rule') return <hr />;
  if (item.kind === 'label') return <div className="menu-label">{item.label}</div>;
  const content = (
    <>
      {item.icon !== undefined && <Icon name={item.icon} />}
      <span className="grow cut">{item.label}</span>
    </>
  );
  if (item.kind === 'choice')
    return (
      <button type="button" role="menuitemradio" aria-checked={item.chosen} tabIndex={-1} onClick={onSelect}>
        {content}
        {item.chosen && <Icon name="check" />}
      </button>
    );
  if (item.kind === 'link')
    return (
      <a
        role="menuitem"
        tabIndex={-1}
        href={item.to}
        onClick={(event) => {
          if (event.metaKey || event.ctrlKey || event.shiftKey) return;
          event.preventDefault();
          onSelect();
        }}
      >
        {content}
      </a>
    );
  return (
    <button
      type="button"
      role="menuitem"
      tabIndex={-1}
      className={item.danger === true ? 'danger' : ''}
      onClick={onSelect}
    >
      {content}
    </button>
  );
};

const moveByKey = (event: KeyboardEvent<HTMLElement>, close: () => void): void => {
  const items = [...event.currentTarget.querySelectorAll<HTMLElement>(ITEMS)];
  const at = items.findIndex((item) => item === document.activeElement);
  const step: Record<string, number> = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: items.length - 1 };
  const to = step[event.key];
  if (event.key === 'Escape' || event.key === 'Tab') {
    event.preventDefault();
    event.stopPropagation();
    close();
  } else if (to !== undefined) {
    event.preventDefault();
    items[(to + items.length) % items.length]?.focus();
  } else if (event.key.length === 1 && event.key !== ' ') {
    const after = [...items.slice(at + 1), ...items.slice(0, at + 1)];
    after.find((item) => item.textContent.trim().toLowerCase().startsWith(event.key.toLowerCase()))?.focus();
  }
};

const GAP = 4;

/** Below the button, or above where there is no room; never outside of the window. */
const place = (menu: HTMLElement, anchor: HTMLElement): void => {
  const box = anchor.getBoundingClientRect();
  const { offsetWidth, offsetHeight } = menu;
  const below = box.bottom + GAP;
  const top = below + offsetHeight <= innerHeight ? below : Math.max(GAP, box.top - GAP - offsetHeight);
  const left = box.left + offsetWidth <= innerWidth - GAP ? box.left : Math.max(GAP, box.right - offsetWidth);
  menu.style.top = `${top}px`;
  menu.style.left = `${left}px`;
};
