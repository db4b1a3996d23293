import { Button } from '../ui/button.tsx';
import { Menu, type MenuItem } from '../ui/menu.tsx';
import type { Remembered } from './history.ts';

interface HistoryMenuProps {
  history: readonly Remembered[];
  onChoose: (query: string) => void;
  onClear: () => void;
}

const SHOWN = 20;
const CHARACTERS = 80;

/** What was run before, in this browser. */
export const HistoryMenu = ({ history, onChoose, onClear }: HistoryMenuProps) => {
  const items: MenuItem[] = [
    { kind: 'label', label: history.length === 0 ? 'Nothing was run yet' : 'Kept in this browser only' },
    ...history.slice(0, SHOWN).map(({ query }): MenuItem => ({
      label: <code>{query.replaceAll(/\s+/g, ' ').slice(0, CHARACTERS)}</code>,
      onSelect: () => onChoose(query),
    })),
    ...(history.length === 0
      ? []
      : [
          { kind: 'rule' } as const,
          { label: 'Clear the history', icon: 'trash', danger: true, onSelect: onClear } as const,
        ]),
  ];
  return (
    <Menu
      items={items}
      trigger={(props) => (
        <Button look="quiet" icon="events" {...props}>
          History
        </Button>
      )}
    />
  );
};
