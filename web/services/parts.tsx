import type { Release } from '#modules/releases';
import type { Service } from '#modules/services';
import { Icon } from '../ui/icons.tsx';
import { Quay, Status } from '../ui/status.tsx';
import { replicaText, SERVICE_STATUS, slotsOf, type Replicated } from './state.ts';

export const ServiceStatus = ({ status }: Pick<Service, 'status'>) => {
  const { tone, word } = SERVICE_STATUS[status];
  return <Status tone={tone}>{word}</Status>;
};

export const ServiceQuay = ({ service }: { service: Replicated }) =>
  service.replicas === 0 || service.status === 'empty' ? null : (
    <Quay slots={slotsOf(service)} label={replicaText(service)} />
  );

/** The address of an app, without what every address has. */
export const LiveUrl = ({ url }: { url: string }) => (
  <a href={url} target="_blank" rel="noreferrer" className="live-url above">
    <span className="cut">{url.replace(/^https?:\/\//, '').replace(/\/$/, '')}</span>
    <Icon name="external" size={13} />
    <span className="sr-only"> (opens in a new tab)</span>
  </a>
);

const SHOWN = 8;

/** What a release was made of: a commit, or an archive. */
export const Source = ({ release: { commit, source_sha256: digest } }: { release: Release }) => {
  if (commit !== null)
    return (
      <span className="nowrap">
        commit <code title={commit}>{commit.slice(0, SHOWN)}</code>
      </span>
    );
  if (digest === null) return 'no source';
  return (
    <span className="nowrap">
      archive <code title={digest}>{digest.slice(0, SHOWN)}</code>
    </span>
  );
};
