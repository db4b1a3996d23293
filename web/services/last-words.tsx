import { useQuery } from '@tanstack/react-query';
import type { ServiceDetail } from '#modules/services';
import { to } from '../locations.ts';
import { readStored } from '../logs/history.ts';
import type { NumberedLine } from '../logs/lines.ts';
import { stripAnsi } from '../ui/ansi.ts';
import { LinkButton } from '../ui/button.tsx';
import { LogTail } from '../ui/code.tsx';
import { Card } from '../ui/layout.tsx';
import { replicaText } from './state.ts';

const LINES = 20;

/** The newest lines of a service that is down or degraded: mostly they say why. */
export const LastWords = ({ service }: { service: ServiceDetail }) => {
  const { project, name, replica_states: replicas } = service;
  const ended = replicas.find(({ running }) => !running);
  const { data: lines = [] } = useQuery({
    // Under the service's key: it is read again as the service changes.
    queryKey: ['service', project, name, 'last words', ended?.name ?? ''],
    queryFn: async ({ signal }) => {
      const read: NumberedLine[] = [];
      const query = { tail: LINES, ...(ended !== undefined && { replica: ended.name }) };
      await readStored({ project, service: name, query }, (more) => void read.push(...more), signal);
      return read;
    },
  });
  return (
    <Card
      title={headOf(service)}
      actions={
        <LinkButton slim look="quiet" to={to('logs', { project, service: name })}>
          Whole log
        </LinkButton>
      }
      flush
    >
      {lines.length === 0 ? (
        <p className="card-body quiet">It has written nothing to its log.</p>
      ) : (
        <div className="last-words">
          <LogTail text={lines.map(({ line }) => stripAnsi(line)).join('\n')} label="Its last lines" />
        </div>
      )}
    </Card>
  );
};

const headOf = (service: ServiceDetail): string => {
  const ended = service.replica_states.find(({ running }) => !running);
  if (ended === undefined) return `Only ${replicaText(service)}`;
  if (ended.oom_killed) return `Replica ${ended.slot} used more memory than it may`;
  return ended.exit_code === null
    ? `Replica ${ended.slot} ended`
    : `Replica ${ended.slot} ended with ${ended.exit_code}`;
};
