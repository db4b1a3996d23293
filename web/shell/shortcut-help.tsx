import { SERVICE_ACTIONS } from '../services/service-actions.ts';
import { SERVICE_TABS } from '../services/tabs.ts';
import { useMay } from '../session/session.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Facts, Kbd } from '../ui/layout.tsx';
import { isOffered, PROJECT_PLACES, SERVER_PLACES } from './places.ts';
import { PALETTE_KEYS } from './shortcuts.ts';

type Keys = readonly [keys: readonly string[], what: string];

const ANYWHERE: readonly Keys[] = [
  [[PALETTE_KEYS, '/'], 'Search or jump anywhere'],
  [['n'], 'Deploy something new'],
  [['?'], 'These shortcuts'],
  [['Esc'], 'Close what is open'],
];

const IN_A_LOG: readonly Keys[] = [
  [['f'], 'Search'],
  [['p'], 'Pause or follow'],
  [['w'], 'Wrap long lines'],
  [['End'], 'To the newest line'],
];

const ShortcutHelp = ({ onClose }: { onClose: () => void }) => {
  const may = useMay();
  const groups: readonly (readonly [title: string, keys: readonly Keys[]])[] = [
    ['Anywhere', ANYWHERE],
    ['In a log', IN_A_LOG],
    [
      'Go to',
      [...SERVER_PLACES.filter((place) => isOffered(place, may)), ...PROJECT_PLACES].map(({ key, label, name }) => [
        ['g', key],
        name === 'projectSettings' ? 'Settings of the project' : label,
      ]),
    ],
    [
      'On a service',
      [
        ...SERVICE_TABS.map(({ key, label }): Keys => [[key], label]),
        ...SERVICE_ACTIONS.filter(({ capability }) => may(capability)).map(({ key, label }): Keys => [[key], label]),
      ],
    ],
  ];
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose} wide>
      <div className="shortcut-groups">
        {groups.map(([title, keys]) => (
          <section key={title} className="stack tight">
            <h3>{title}</h3>
            <Facts
              facts={keys.map(([names, what]) => [
                what,
                <span key={what} className="row">
                  {names.map((name) => (
                    <Kbd key={name}>{name}</Kbd>
                  ))}
                </span>,
              ])}
            />
          </section>
        ))}
      </div>
    </Dialog>
  );
};

export default ShortcutHelp;
