import { finish, type Rig } from './rig.ts';

/** Does what the operation of a creation would do. */
export const makeReady = (rig: Rig, name: string): void => {
  const row = rig.datastores.datastores.requireRow({ project: 'shop', name });
  const tls = { caPem: 'ca', certificatePem: 'certificate', keyPem: 'key' };
  rig.datastores.store.update(row.id, {
    status: 'ready',
    addresses: { main: '10.208.0.9' },
    secrets: { ...row.secrets, tls },
  });
  const [open] = rig.operations.list(
    { projects: ['*'], project: 'shop', datastore: name, status: 'queued' },
    { limit: 1, after: undefined },
  );
  if (open !== undefined) finish(rig, open.operation_id);
};
