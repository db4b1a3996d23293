import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { DryRun } from '#kernel/schema';
import type { Token } from '#modules/tokens';
import { at, call } from '../api.ts';
import { queries } from '../data/client.ts';
import { useMay, useSession } from '../session/session.ts';
import { Button } from '../ui/button.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { ErrorCard } from '../ui/error-card.tsx';
import { Card, Notice, PageHead, SkeletonLines } from '../ui/layout.tsx';
import { Badge } from '../ui/status.tsx';
import { Table, type Column } from '../ui/table.tsx';
import { Ago } from '../ui/time.tsx';
import { toast } from '../ui/toast.tsx';
import { EditDialog } from './edit.tsx';
import { MintDialog } from './mint.tsx';
import { OwnToken } from './own.tsx';
import { tokensRead } from './reads.ts';
import { OwnSessions } from './sessions.tsx';

const Tokens = () => {
  const may = useMay();
  const [minting, setMinting] = useState(false);
  return (
    <>
      <PageHead
        title="Tokens"
        below="Who may do what on this server, and for how long."
        actions={
          may('manage_tokens') && (
            <Button look="primary" icon="plus" onClick={() => setMinting(true)}>
              Mint a token
            </Button>
          )
        }
      />
      <div className="stack wide">
        {may('admin') && <AllTokens />}
        <OwnToken />
        <OwnSessions />
        {!may('admin') && (
          <p className="small quiet">
            Other tokens are listed for those with the capability <code>admin</code>.
          </p>
        )}
      </div>
      {minting && <MintDialog onClose={() => setMinting(false)} />}
    </>
  );
};

const AllTokens = () => {
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery(tokensRead);
  const [chosen, choose] = useState<{ token: Token; to: 'edit' | 'revoke' }>();
  const { token_id } = useSession();
  const tokens = data?.pages.flatMap((page) => page.tokens);
  if (tokens === undefined && error !== null) return <ErrorCard error={error} onRetry={() => void refetch()} />;
  if (tokens === undefined) return <SkeletonLines lines={5} />;
  return (
    <Card title="All tokens" flush>
      <Table caption="Tokens" columns={columnsOf(token_id, choose)} rows={tokens} keyOf={({ id }) => id} />
      {hasNextPage && (
        <div className="more-row">
          <Button busy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            Show older tokens
          </Button>
        </div>
      )}
      {chosen?.to === 'edit' && <EditDialog token={chosen.token} onClose={() => choose(undefined)} />}
      {chosen?.to === 'revoke' && (
        <Revoke token={chosen.token} own={chosen.token.id === token_id} onClose={() => choose(undefined)} />
      )}
    </Card>
  );
};

const columnsOf = (own: string, choose: (chosen: { token: Token; to: 'edit' | 'revoke' }) => void): Column<Token>[] => [
  {
    head: 'For',
    cell: ({ id, principal }) => (
      <div className="token-name">
        <span className="row wrap">
          <strong>{principal}</strong>
          {id === own && <Badge tone="busy">yours</Badge>}
        </span>
        <code className="small faint">{id}</code>
      </div>
    ),
  },
  {
    head: 'May',
    cell: ({ capabilities }) => (
      <span className="row wrap token-rights">
        {capabilities.map((each) => (
          <Badge key={each} tone={each === 'admin' ? 'warn' : 'idle'}>
            {each}
          </Badge>
        ))}
      </span>
    ),
  },
  {
    head: 'In',
    cell: ({ projects }) =>
      projects.includes('*') ? 'all projects' : <span className="mono small">{projects.join(', ')}</span>,
  },
  {
    head: 'Last used',
    cell: ({ last_used_at }) =>
      last_used_at === null ? <span className="faint">never</span> : <Ago at={last_used_at} />,
  },
  {
    head: 'Expires',
    cell: ({ expires_at }) => (expires_at === null ? <span className="faint">never</span> : <Ago at={expires_at} />),
  },
  {
    head: 'Minted',
    cell: ({ created_at, created_by }) => (
      <span className="small quiet">
        <Ago at={created_at} /> by {created_by}
      </span>
    ),
  },
  {
    head: 'Change',
    silent: true,
    end: true,
    cell: (token) => (
      <span className="row token-verbs">
        <Button slim onClick={() => choose({ token, to: 'edit' })}>
          Edit<span className="sr-only"> {token.principal}</span>
        </Button>
        <Button slim look="danger" onClick={() => choose({ token, to: 'revoke' })}>
          Revoke<span className="sr-only"> {token.principal}</span>
        </Button>
      </span>
    ),
  },
];

const Revoke = ({ token, own, onClose }: { token: Token; own: boolean; onClose: () => void }) => (
  <Confirm
    title={`Revoke the token of ${token.principal}?`}
    verb="Revoke"
    preview={() => call<DryRun>('DELETE', at('tokens', token.id), { query: { dry_run: true } })}
    run={async () => {
      await call('DELETE', at('tokens', token.id));
      toast('ok', `Revoked the token of ${token.principal}`);
      void queries.invalidateQueries({ queryKey: own ? ['session'] : ['tokens'] });
    }}
    onClose={onClose}
  >
    <p>
      Whoever has it is shut out at once, open streams and signed-in browsers included. This can’t be undone; another
      token can be minted.
    </p>
    {own && <Notice tone="warn">This is the token that you are signed in with: you will be signed out.</Notice>}
  </Confirm>
);

export default Tokens;
