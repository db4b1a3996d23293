import type { DryRun } from '#kernel/schema';
import type { Operation } from '#modules/operations';
import { at, call } from '../api.ts';
import { queries } from '../data/client.ts';
import { KIND_NAMES } from '../deploys/kinds.ts';
import { Confirm } from '../ui/confirm.tsx';

/** Asks before an operation is canceled, with what that would do. */
export const CancelOperation = ({ operation, onClose }: { operation: Operation; onClose: () => void }) => {
  const { operation_id: id, kind, service, datastore, project } = operation;
  const path = at('operations', id, 'cancel');
  return (
    <Confirm
      title={`Cancel ${KIND_NAMES[kind].toLowerCase()} of ${service ?? datastore ?? project}`}
      verb="Cancel it"
      preview={() => call<DryRun>('POST', path, { query: { dry_run: true } })}
      run={async () => {
        queries.setQueryData(['operation', id], await call<Operation>('POST', path));
      }}
      onClose={onClose}
    />
  );
};
