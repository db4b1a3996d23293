import { useId, useMemo, useState, type KeyboardEvent } from 'react';
import { useLocation } from 'wouter';
import { useSummaries } from '../data/follow.ts';
import { useMay } from '../session/session.ts';
import { useModal } from '../ui/dialog.tsx';
import { Icon } from '../ui/icons.tsx';
import { Kbd } from '../ui/layout.tsx';
import { commandsOf, idCommands, rank, type Command } from './commands.ts';

const MOST_SHOWN = 40;

interface PaletteProps {
  project: string | undefined;
  onClose: () => void;
  onHelp: () => void;
}

/** Finds any place and any action by a few letters (WAI-ARIA combobox with a listbox). */
const Palette = ({ project, onClose, onHelp }: PaletteProps) => {
  const id = useId();
  const ref = useModal(onClose);
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const [, navigate] = useLocation();
  const may = useMay();
  const projects = useSummaries();
  const commands = useMemo(
    () => [
      ...commandsOf({ project, projects: projects ?? [], may }),
      { id: 'help', label: 'Keyboard shortcuts', where: 'help', icon: 'info', run: onHelp } as const,
    ],
    [project, projects, may, onHelp],
  );
  const found = [...idCommands(text), ...rank(commands, text)].slice(0, MOST_SHOWN);
  const chosen = found[Math.min(at, found.length - 1)];

  const run = (command: Command | undefined): void => {
    if (command === undefined) return;
    onClose();
    if (command.to !== undefined) navigate(command.to);
    else command.run?.();
  };
  const onKey = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === 'Enter') {
      event.preventDefault();
      run(chosen);
    } else if (step !== undefined && found.length > 0) {
      event.preventDefault();
      const next = (Math.min(at, found.length - 1) + step + found.length) % found.length;
      setAt(next);
      document.getElementById(`${id}-${next}`)?.scrollIntoView({ block: 'nearest' });
    }
  };
  return (
    <dialog ref={ref} className="dialog palette" aria-label="Search or jump">
      <div className="palette-input">
        <Icon name="search" />
        <input
          autoFocus
          role="combobox"
          aria-expanded="true"
          aria-controls={`${id}-list`}
          aria-activedescendant={chosen === undefined ? undefined : `${id}-${found.indexOf(chosen)}`}
          aria-label="Search or jump"
          placeholder="A project, a service, an action…"
          autoComplete="off"
          spellCheck={false}
          value={text}
          onKeyDown={onKey}
          onChange={(event) => {
            setText(event.target.value);
            setAt(0);
          }}
        />
        <Kbd>Esc</Kbd>
      </div>
      <div role="listbox" id={`${id}-list`} aria-label="Results">
        {found.map((command, index) => (
          <div
            key={command.id}
            id={`${id}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={command === chosen}
            onPointerMove={() => setAt(index)}
            onClick={() => run(command)}
          >
            <Icon name={command.icon} />
            <span className="grow cut">{command.label}</span>
            <span className="small faint nowrap">{command.where}</span>
          </div>
        ))}
      </div>
      {found.length === 0 && (
        <p className="palette-none" role="status">
          Nothing is called that.
        </p>
      )}
    </dialog>
  );
};

export default Palette;
