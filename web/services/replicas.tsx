import { useQuery } from '@tanstack/react-query';
import type { ReplicaView, ServiceDetail } from '#modules/services';
import { to } from '../locations.ts';
import { bytes, percent } from '../ui/format.ts';
import { Empty } from '../ui/layout.tsx';
import { Sparkline } from '../ui/spark.tsx';
import { Badge, Status, type Tone } from '../ui/status.tsx';
import { Table } from '../ui/table.tsx';
import { Ago } from '../ui/time.tsx';
import { LinkButton } from '../ui/button.tsx';
import { inWords, replicaGlance, type ReplicaGlance } from '../usage/glance.ts';
import { glanceRead } from '../usage/read.ts';
import { latestOf } from '../usage/series.ts';

/** Every replica, with how it went in the last hour. */
export const Replicas = ({ service }: { service: ServiceDetail }) => {
  const { project, name, replica_states: replicas } = service;
  const { data: usage } = useQuery(glanceRead(project, name));
  if (replicas.length === 0)
    return (
      <Empty icon="service" title={service.live_release === null ? 'No release yet' : 'Nothing runs'}>
        {service.live_release === null
          ? 'Deploy a folder, and it runs here.'
          : 'It is scaled to 0, or its replicas are gone.'}
      </Empty>
    );
  const rows = replicas.map((replica) => ({
    replica,
    glance: usage === undefined ? undefined : replicaGlance(usage, replica.name),
  }));
  return (
    <Table
      caption="Replicas"
      rows={rows}
      keyOf={({ replica }) => replica.name}
      columns={[
        { head: 'Replica', keepHead: true, cell: ({ replica }) => <code title={replica.name}>{replica.slot}</code> },
        { head: 'State', cell: ({ replica }) => <ReplicaStatus replica={replica} /> },
        { head: 'Release', cell: ({ replica }) => <code>{replica.release}</code> },
        { head: 'CPU', cell: (row) => <Cpu {...row} /> },
        { head: 'Memory', cell: (row) => <Memory {...row} /> },
        { head: 'Restarts', cell: (row) => <Restarts {...row} /> },
        {
          head: 'Started',
          end: true,
          cell: ({ replica: { started_at: started } }) => (started === null ? '–' : <Ago at={started} />),
        },
        {
          head: 'Log',
          silent: true,
          end: true,
          cell: ({ replica }) => (
            <LinkButton
              slim
              look="quiet"
              to={`${to('logs', { project, service: name })}?${new URLSearchParams({ replica: replica.name }).toString()}`}
            >
              Log<span className="sr-only"> of replica {replica.slot}</span>
            </LinkButton>
          ),
        },
      ]}
    />
  );
};

interface Row {
  replica: ReplicaView;
  glance: ReplicaGlance | undefined;
}

const EXITED = { tone: 'bad', word: 'Exited' } as const;
const STATES: Record<string, { tone: Tone; word: string }> = {
  live: { tone: 'ok', word: 'Live' },
  starting: { tone: 'busy', word: 'Starting' },
  draining: { tone: 'idle', word: 'Draining' },
  exited: EXITED,
};

const ReplicaStatus = ({ replica: { state, exit_code: code } }: { replica: ReplicaView }) => {
  const { tone, word } = STATES[state] ?? EXITED;
  return (
    <Status tone={tone}>
      {word}
      {state === 'exited' && code !== null && ` with ${code}`}
    </Status>
  );
};

const WIDTH = 72;
const HEIGHT = 22;

/** Of the last intervals rather than of this very moment, which is mostly between two requests. */
const Cpu = ({ replica, glance }: Row) => {
  const cpu = latestOf(glance?.cpu ?? []) ?? replica.cpu;
  return (
    <span className="with-spark">
      <span>{cpu === null ? '–' : percent(cpu)}</span>
      {glance !== undefined && (
        <Sparkline values={glance.cpu} width={WIDTH} height={HEIGHT} label={inWords('CPU', glance.cpu, percent)} />
      )}
    </span>
  );
};

const Memory = ({ replica: { memory_bytes: used, memory_limit_bytes: limit }, glance }: Row) => {
  if (used === null) return '–';
  return (
    <span className="with-spark">
      <span className={limit !== null && used > limit * 0.9 ? 'near-limit nowrap' : 'nowrap'}>
        {bytes(used)}
        {limit !== null && <span className="faint"> of {bytes(limit)}</span>}
      </span>
      {glance !== undefined && (
        <Sparkline
          values={glance.memory}
          {...(limit !== null && { max: limit })}
          width={WIDTH}
          height={HEIGHT}
          label={inWords('Memory', glance.memory, bytes)}
        />
      )}
    </span>
  );
};

/** A flat line would say nothing: when it restarted is drawn where it did. */
const Restarts = ({ replica: { restarts, oom_killed: oom }, glance }: Row) => (
  <span className="with-spark">
    <span className={restarts > 0 ? 'some-restarts' : ''}>{restarts}</span>
    {glance?.restarts.some((count) => count !== null && count > 0) === true && (
      <Sparkline
        values={glance.restarts}
        width={WIDTH}
        height={HEIGHT}
        label={inWords('Restarts', glance.restarts, String)}
      />
    )}
    {oom && <Badge tone="bad">out of memory</Badge>}
  </span>
);
