import { useSession } from '../session/session.ts';
import { Copyable } from '../ui/code.tsx';
import { Card, Facts } from '../ui/layout.tsx';
import { Ago } from '../ui/time.tsx';
import { CAPABILITIES } from './rights.ts';

/** What the token of this session may do, in words. */
export const OwnToken = () => {
  const { principal, token_id, capabilities, projects, token_expires_at: expires } = useSession();
  return (
    <Card title="Your token">
      <Facts
        facts={[
          ['For', principal],
          ['Id', <Copyable key="id" text={token_id} />],
          [
            'May',
            <ul key="may" className="token-may">
              {CAPABILITIES.filter(([name]) => capabilities.includes(name)).map(([name, what]) => (
                <li key={name}>
                  <code>{name}</code> <span className="quiet">{what}</span>
                </li>
              ))}
            </ul>,
          ],
          ['In', projects.includes('*') ? 'all projects' : <code key="in">{projects.join(', ')}</code>],
          ['Expires', expires === null ? 'never' : <Ago key="expires" at={expires} />],
        ]}
      />
    </Card>
  );
};
