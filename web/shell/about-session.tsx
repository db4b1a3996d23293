import { useSession } from '../session/session.ts';
import { Copyable } from '../ui/code.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Facts } from '../ui/layout.tsx';
import { Badge } from '../ui/status.tsx';
import { Ago } from '../ui/time.tsx';

export const AboutSession = ({ onClose }: { onClose: () => void }) => {
  const session = useSession();
  return (
    <Dialog title="This session" onClose={onClose}>
      <Facts
        facts={[
          ['Principal', session.principal],
          ['Token', <Copyable key="token" text={session.token_id} />],
          [
            'Capabilities',
            <span key="capabilities" className="row wrap">
              {session.capabilities.map((capability) => (
                <Badge key={capability}>{capability}</Badge>
              ))}
            </span>,
          ],
          ['Projects', session.projects.includes('*') ? 'all' : session.projects.join(', ')],
          ['Signed in', <Ago key="since" at={session.created_at} />],
          ['Session ends', <Ago key="ends" at={session.expires_at} />],
          [
            'Token expires',
            session.token_expires_at === null ? 'never' : <Ago key="expires" at={session.token_expires_at} />,
          ],
        ]}
      />
    </Dialog>
  );
};
