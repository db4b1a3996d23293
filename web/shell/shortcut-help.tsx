import { Dialog } from '../ui/dialog.tsx';
import { Facts, Kbd } from '../ui/layout.tsx';
import { PALETTE_KEYS } from './shortcuts.ts';

const KEYS: readonly [keys: readonly string[], what: string][] = [
  [[PALETTE_KEYS], 'Search or jump anywhere'],
  [['/'], 'The same'],
  [['n'], 'Deploy something new'],
  [['g', 'h'], 'All projects'],
  [['g', 'p'], 'This project'],
  [['g', 'o'], 'Operations'],
  [['?'], 'These shortcuts'],
  [['Esc'], 'Close what is open'],
];

const ShortcutHelp = ({ onClose }: { onClose: () => void }) => (
  <Dialog title="Keyboard shortcuts" onClose={onClose}>
    <Facts
      facts={KEYS.map(([keys, what]) => [
        what,
        <span key={what} className="row">
          {keys.map((key) => (
            <Kbd key={key}>{key}</Kbd>
          ))}
        </span>,
      ])}
    />
  </Dialog>
);

export default ShortcutHelp;
