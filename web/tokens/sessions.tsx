import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { ListedSession } from '#modules/sessions';
import type { DryRun } from '#kernel/schema';
import { at, call } from '../api.ts';
import { signOut } from '../session/session.ts';
import { Button } from '../ui/button.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { ErrorLine } from '../ui/error-card.tsx';
import { Card, SkeletonLines } from '../ui/layout.tsx';
import { Badge } from '../ui/status.tsx';
import { Table, type Column } from '../ui/table.tsx';
import { Ago } from '../ui/time.tsx';
import { sessionsRead } from './reads.ts';

const COLUMNS: readonly Column<ListedSession>[] = [
  {
    head: 'Browser',
    cell: ({ id, current }) => (
      <span className="row wrap">
        <code className="small">{id}</code>
        {current && <Badge tone="busy">this one</Badge>}
      </span>
    ),
  },
  { head: 'Signed in', cell: ({ created_at }) => <Ago at={created_at} /> },
  { head: 'Last used', cell: ({ last_used_at }) => <Ago at={last_used_at} /> },
  { head: 'Ends', cell: ({ expires_at }) => <Ago at={expires_at} /> },
];

/** Where the token of this session is signed in, and the way out of all of them. */
export const OwnSessions = () => {
  const { data, error } = useQuery(sessionsRead);
  const [leaving, setLeaving] = useState(false);
  return (
    <Card
      title="Your signed-in browsers"
      flush
      actions={
        <Button slim look="danger" onClick={() => setLeaving(true)}>
          Sign out everywhere
        </Button>
      }
    >
      {data === undefined && (
        <div className="in-card">{error === null ? <SkeletonLines lines={2} /> : <ErrorLine error={error} />}</div>
      )}
      {data !== undefined && (
        <Table caption="Signed-in browsers" columns={COLUMNS} rows={data} keyOf={({ id }) => id} />
      )}
      {leaving && (
        <Confirm
          title="Sign out everywhere?"
          verb="Sign out everywhere"
          preview={() => call<DryRun>('DELETE', at('sessions'), { query: { dry_run: true } })}
          run={() => signOut(true)}
          onClose={() => setLeaving(false)}
        >
          <p>All browsers that are signed in with this token, this one included. The token itself goes on working.</p>
        </Confirm>
      )}
    </Card>
  );
};
