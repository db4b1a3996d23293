import { useState } from 'react';
import { useSession } from '../session/session.ts';
import { Icon } from '../ui/icons.tsx';
import { Menu } from '../ui/menu.tsx';
import { AboutSession } from './about-session.tsx';
import { leave } from './leave.ts';
import { setTheme, useTheme, type Theme } from './theme.ts';

const THEMES = [
  { theme: 'auto', label: 'As the system', icon: 'auto' },
  { theme: 'light', label: 'Light', icon: 'sun' },
  { theme: 'dark', label: 'Dark', icon: 'moon' },
] as const satisfies readonly { theme: Theme; label: string; icon: string }[];

/** Who is signed in, the theme, and the way out. */
export const Account = () => {
  const { principal } = useSession();
  const theme = useTheme();
  const [about, setAbout] = useState(false);
  return (
    <>
      <Menu
        items={[
          { kind: 'label', label: `Signed in as ${principal}` },
          { label: 'What this token may do', icon: 'token', onSelect: () => setAbout(true) },
          { kind: 'rule' },
          { kind: 'label', label: 'Theme' },
          ...THEMES.map((each) => ({
            kind: 'choice' as const,
            label: each.label,
            icon: each.icon,
            chosen: theme === each.theme,
            onSelect: () => setTheme(each.theme),
          })),
          { kind: 'rule' },
          { label: 'Sign out', icon: 'external', onSelect: () => leave(false) },
          { label: 'Sign out everywhere', icon: 'external', onSelect: () => leave(true) },
        ]}
        trigger={(props) => (
          <button type="button" className="switcher flat" {...props}>
            <Icon name="user" />
            <span className="grow cut">{principal}</span>
            <span className="sr-only">, account and theme</span>
            <Icon name="updown" />
          </button>
        )}
      />
      {about && <AboutSession onClose={() => setAbout(false)} />}
    </>
  );
};
