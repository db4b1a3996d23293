import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { Link } from 'wouter';
import type { Capacity, Checks } from '#modules/system';
import { to } from '../locations.ts';
import { Button } from '../ui/button.tsx';
import { ErrorCard } from '../ui/error-card.tsx';
import { count } from '../ui/format.ts';
import { Card, SkeletonLines } from '../ui/layout.tsx';
import { Status, type Tone } from '../ui/status.tsx';
import { checksRead } from './read.ts';

type Check = Checks['checks'][number];

const LOOKS: Record<Check['status'], { tone: Tone; word: string; rank: number }> = {
  fail: { tone: 'bad', word: 'Fault', rank: 0 },
  warn: { tone: 'warn', word: 'Look', rank: 1 },
  ok: { tone: 'ok', word: 'Fine', rank: 2 },
};

/** How often figures of the server ask for its checks, at most. */
const PAUSE_MS = 10_000;

/** What the server finds when it looks at itself, the worst first, each with its next step. */
export const HealthTab = ({ capacity }: { capacity: Capacity }) => {
  const { data, error, refetch, isFetching } = useQuery(checksRead);
  // The figures come every few seconds; what is made of them is asked for again with them.
  useEffect(() => {
    const timer = setTimeout(() => void refetch(), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [capacity, refetch]);
  if (data === undefined)
    return error === null ? <SkeletonLines lines={6} /> : <ErrorCard error={error} onRetry={() => void refetch()} />;
  const checks = worstFirst(data.checks);
  const wrong = checks.filter(({ status }) => status !== 'ok').length;
  return (
    <div className="stack">
      {error !== null && <ErrorCard error={error} onRetry={() => void refetch()} />}
      <Card
        title="Checks"
        actions={
          <>
            <span role="status" className="small">
              <Status tone={LOOKS[data.status].tone}>
                {wrong === 0 ? 'All is well' : `${count(wrong, 'thing')} to look at`}
              </Status>
            </span>
            <Button slim look="quiet" icon="restart" busy={isFetching} onClick={() => void refetch()}>
              Look again
            </Button>
          </>
        }
        flush
      >
        <ul className="findings">
          {checks.map((check) => (
            <CheckRow key={check.id} check={check} />
          ))}
        </ul>
      </Card>
      <p className="small quiet">
        The same as <code>berth doctor</code> asks of the server. Run on the server itself, it looks at the machine too.
      </p>
    </div>
  );
};

export const worstFirst = (checks: readonly Check[]): Check[] =>
  [...checks].sort((a, b) => LOOKS[a.status].rank - LOOKS[b.status].rank);

const CheckRow = ({ check: { id, title, status, detail, next } }: { check: Check }) => {
  const { tone, word } = LOOKS[status];
  return (
    <li>
      <Status tone={tone}>{word}</Status>
      <strong>{title.replace(/^The (.)/, (_the, letter: string) => letter.toUpperCase())}</strong>
      <span className="stack-0">
        <span className="quiet">{detail}</span>
        {next !== null && (
          <span>
            <strong>Next: </strong>
            {id.startsWith('disk:') ? (
              <>
                free space: <Link href={to('adminTab', { tab: 'disk' })}>which project has how much</Link>
              </>
            ) : (
              next
            )}
          </span>
        )}
      </span>
    </li>
  );
};
