import { access, constants, readdir, readFile, readlink, stat, statfs } from 'node:fs/promises';
import { lookup } from 'node:dns/promises';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { HttpAnswer, Probes } from './probes.ts';

const DEADLINE_MS = 5000;

const request = (url: string, token: string | undefined, ca?: string): Promise<Response> =>
  fetch(url, {
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    redirect: 'manual',
    signal: AbortSignal.timeout(DEADLINE_MS),
    ...(ca === undefined ? {} : { tls: { ca } }),
  });

export const realProbes: Probes = {
  now: () => Date.now(),
  uid: () => process.getuid?.() ?? -1,
  which: (program) => Bun.which(program),
  output: async (argv) => {
    const child = Bun.spawn([...argv], { stdin: 'ignore', stdout: 'pipe', stderr: 'pipe', timeout: DEADLINE_MS });
    const [text, error, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ]);
    return { code, text: (text + error).trim() };
  },
  docker: (socket, path) =>
    answerOf(fetch(`http://docker${path}`, { unix: socket, signal: AbortSignal.timeout(DEADLINE_MS) })),
  http: (url, token) => answerOf(request(url, token)),
  connects: (host, port) =>
    new Promise((resolve) => {
      const socket = connect({ host, port, timeout: 1000 });
      const end = (open: boolean): void => {
        socket.destroy();
        resolve(open);
      };
      socket
        .once('connect', () => end(true))
        .once('error', () => end(false))
        .once('timeout', () => end(false));
    }),
  listeners: async (port) => namesOfSockets(await listeningInodes(port)),
  disk: async (path) => {
    const { bavail, blocks, bsize } = await statfs(path);
    return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
  },
  memory: async () => {
    const text = await readFile('/proc/meminfo', 'utf8');
    const line = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? 0) * 1024;
    return { availableBytes: line('MemAvailable'), totalBytes: line('MemTotal') };
  },
  stat: (path) =>
    stat(path).then(
      (stats) => ({ mode: stats.mode & 0o7777, uid: stats.uid, directory: stats.isDirectory() }),
      (thrown: unknown) => {
        if (codeOf(thrown) === 'ENOENT') return undefined;
        throw thrown;
      },
    ),
  writable: (path) =>
    access(path, constants.W_OK).then(
      () => true,
      () => false,
    ),
  resolve: async (name) => {
    try {
      return (await lookup(name, { all: true })).map(({ address }) => address);
    } catch (thrown) {
      const code = codeOf(thrown);
      if (typeof code === 'string' && /NOTFOUND|NODATA|EAI_|ESERVFAIL/.test(code)) return [];
      throw thrown;
    }
  },
  ownAddresses: () =>
    Object.values(networkInterfaces()).flatMap((addresses) => (addresses ?? []).map(({ address }) => address)),
  sqlite: async () => {
    const { openDatabase, sqliteVersion } = await import('#kernel/database');
    const db = openDatabase(':memory:');
    try {
      return sqliteVersion(db);
    } finally {
      db.close();
    }
  },
};

/** The same, trusting the certificates of a private authority (PEM) too. */
export const probesTrusting = (ca: string | undefined): Probes => ({
  ...realProbes,
  http: (url, token) => answerOf(request(url, token, ca)),
});

const answerOf = async (pending: Promise<Response>): Promise<HttpAnswer> => {
  const response = await pending;
  const text = await response.text();
  const date = Date.parse(response.headers.get('date') ?? '');
  return { status: response.status, body: parsed(text), date: Number.isNaN(date) ? undefined : date };
};

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
};

const LISTEN = '0A';

/** Inodes of the sockets that listen on a port, of both families. */
const listeningInodes = async (port: number): Promise<Set<string>> => {
  const inodes = new Set<string>();
  const wanted = port.toString(16).toUpperCase().padStart(4, '0');
  for (const file of ['/proc/net/tcp', '/proc/net/tcp6']) {
    const text = await readFile(file, 'utf8').catch(() => '');
    for (const line of text.split('\n').slice(1)) {
      const [, local, , state, , , , , , inode] = line.trim().split(/\s+/);
      if (state === LISTEN && local?.endsWith(`:${wanted}`) === true && inode !== undefined) inodes.add(inode);
    }
  }
  return inodes;
};

/** Names of the processes that hold sockets. Processes of others can be looked into by root only. */
const namesOfSockets = async (inodes: Set<string>): Promise<string[]> => {
  if (inodes.size === 0) return [];
  const names = new Set<string>();
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const descriptors = await readdir(`/proc/${pid}/fd`).catch(() => []);
    for (const descriptor of descriptors) {
      const inode = /^socket:\[(\d+)\]$/.exec(await readlink(`/proc/${pid}/fd/${descriptor}`).catch(() => ''))?.[1];
      if (inode === undefined || !inodes.has(inode)) continue;
      names.add((await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => 'unknown')).trim());
      break;
    }
  }
  return [...names];
};

const codeOf = (thrown: unknown): unknown => (thrown instanceof Error && 'code' in thrown ? thrown.code : undefined);
