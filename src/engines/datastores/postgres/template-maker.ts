import { randomBytes } from 'node:crypto';
import type { Readable } from 'node:stream';
import { BerthError } from '#kernel/errors';
import type { ContainerSpec, Labels, Runtime } from '#engines/runtime/port';
import { archiveOf } from './archive.ts';
import { MAKE, MARKS } from './cluster.ts';
import { helperContainer, homeOf, imageOf, OWN, PGDATA } from './server.ts';

const MAKE_MS = 300_000;
const LOG_LINES = 20;
const MEMORY_BYTES = 256 * 1024 * 1024;
const PIDS_LIMIT = 64;
/** The least of all: whatever else the machine has to do comes first. */
const CPU_SHARES = 16;

export interface TemplateRequest {
  major: string;
  /** Of the superuser. */
  password: string;
  /** What the cluster holds beyond what initdb makes; none of them has a line break. */
  statements: readonly string[];
  labels: Labels;
  signal: AbortSignal;
}

/**
 * Runs `use` on the tar of the data directory of a cluster that was made and shut down. Without a named volume: the official
 * image declares one in its place, an anonymous one that goes with the container.
 */
export const withNewCluster = async (
  runtime: Runtime,
  request: TemplateRequest,
  use: (tar: Readable) => Promise<void>,
): Promise<void> => {
  const { major, password, statements, signal } = request;
  const home = homeOf(major);
  signal.throwIfAborted();
  const { id } = await runtime.create(makerSpec(request));
  try {
    const files = [
      { ...OWN, path: `${home}/${MARKS.newPassword}`, content: password },
      { ...OWN, path: `${home}/${MARKS.statements}`, content: statements.map((line) => `${line}\n`).join('') },
    ];
    await runtime.putArchive(id, home, await archiveOf(home, files));
    await runtime.start(id);
    const code = await runtime.wait(id, AbortSignal.any([signal, AbortSignal.timeout(MAKE_MS)]));
    if (code !== 0) throw await failed(runtime, request, { id, code });
    await use(await runtime.getArchive(id, `${home}/${PGDATA}`));
  } finally {
    await runtime.remove(id);
  }
};

/** Pure, but for its name. */
const makerSpec = ({ major, labels }: TemplateRequest): ContainerSpec =>
  helperContainer(
    { major, name: `berth-template-${major}-${randomBytes(6).toString('hex')}` },
    {
      entrypoint: ['sh', '-c', MAKE],
      env: { PGDATA: `${homeOf(major)}/${PGDATA}` },
      labels,
      volumes: [],
      memoryBytes: MEMORY_BYTES,
      cpuShares: CPU_SHARES,
      pidsLimit: PIDS_LIMIT,
      tmpfs: ['/tmp'],
      init: true,
    },
  );

const failed = async (
  runtime: Runtime,
  { major }: TemplateRequest,
  { id, code }: { id: string; code: number },
): Promise<BerthError> => {
  const lines: string[] = [];
  for await (const { line } of runtime.logs(id, { follow: false, tail: LOG_LINES })) lines.push(line);
  return new BerthError('INTERNAL_ERROR', `making a cluster of ${imageOf(major)} ended with exit code ${code}`, {
    hint: 'read the last lines of its log; is the disk full, or the image not the official one?',
    retryable: true,
    logTail: lines.join('\n'),
  });
};
