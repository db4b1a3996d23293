import { randomBytes } from 'node:crypto';
import type { DatastoreInstance } from '#engines/datastores/port';

/** An instance as it could be, with an id and passwords of its own. */
export const describeInstance = (
  over: Partial<DatastoreInstance> & Pick<DatastoreInstance, 'kind'>,
): DatastoreInstance => ({
  id: `ds_${randomBytes(8).toString('hex')}`,
  project: 'shop',
  name: 'db',
  version: '17',
  host: `${over.name ?? 'db'}.db.internal`,
  network: 'berth-shop',
  gateway: '10.200.0.1',
  addresses: { main: '10.200.0.9' },
  memoryMb: 256,
  cpus: 1,
  storageLimitMb: null,
  adminPassword: password(),
  readerPassword: password(),
  writerPassword: password(),
  credentials: [{ user: 'app_first', password: password() }],
  tls: { caPem: '', certificatePem: '', keyPem: '' },
  labels: {},
  ...over,
});

const password = (): string => randomBytes(12).toString('hex');
