import { randomBytes } from 'node:crypto';
import { S3Client } from 'bun';
import { docker, removeByLabel } from './docker.ts';
import { freePorts } from './ports.ts';
import { until } from './until.ts';

/** A real S3 server in a container, with one bucket. */
export interface S3Server {
  endpoint: string;
  region: string;
  bucket: string;
  accessKeyId: string;
  secretAccessKey: string;
  container: string;
  /** A client of the test's own. */
  client: S3Client;
  stop: () => Promise<void>;
}

export const startS3 = async (): Promise<S3Server> => {
  const run = `berth-test-s3-${randomBytes(4).toString('hex')}`;
  const [port = 0] = await freePorts(1);
  const keys = { accessKeyId: 'backups', secretAccessKey: `secret-${randomBytes(8).toString('hex')}` };
  const bucket = 'backups';
  const env = ['--env', `ROOT_ACCESS_KEY=${keys.accessKeyId}`, '--env', `ROOT_SECRET_KEY=${keys.secretAccessKey}`];
  const publish = ['--publish', `127.0.0.1:${port}:7070`];
  await docker([
    'run',
    '--detach',
    '--name',
    run,
    '--label',
    `berth.test=${run}`,
    ...publish,
    ...env,
    'berth-test/s3:latest',
  ]);
  // A bucket is a folder of this server.
  await docker(['exec', run, 'mkdir', `/data/${bucket}`]);
  const place = { endpoint: `http://127.0.0.1:${port}`, region: 'us-east-1', bucket, ...keys };
  const client = new S3Client(place);
  await until(() =>
    client.list({ maxKeys: 1 }).then(
      () => true,
      () => false,
    ),
  );
  return { ...place, container: run, client, stop: () => removeByLabel(`berth.test=${run}`) };
};
