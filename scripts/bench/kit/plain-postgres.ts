import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { docker, removeByLabel } from '#test/support/docker.ts';
import type { DatastoreRow } from '#modules/datastores';
import { hostOf, untilSelect } from './postgres.ts';
import type { Scope } from './scope.ts';

/** The same major version as berth's default. */
const IMAGE = 'postgres:17';
const PASSWORD = 'benchmark';
const FOLDER = '/dumps';

/** What a user without berth does: `docker run postgres`, and the client programs of the same image. */
export class PlainPostgres {
  readonly #label = `dev.berth.bench=${randomBytes(4).toString('hex')}`;
  readonly #dir = mkdtempSync(join(tmpdir(), 'berth-bench-dumps-'));

  static create(scope: Scope): PlainPostgres {
    const plain = new PlainPostgres();
    scope.defer(() => rmSync(plain.#dir, { recursive: true, force: true }));
    scope.defer(() => removeByLabel(plain.#label));
    return plain;
  }

  /** `docker run`, which makes a database cluster: the milliseconds to the first `SELECT 1` over TCP. */
  async runUntilSelect(): Promise<number> {
    const begun = performance.now();
    const argv = ['run', '-d', '--label', this.#label, '-e', `POSTGRES_PASSWORD=${PASSWORD}`, IMAGE];
    const id = (await docker(argv)).trim();
    try {
      const format = '{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}';
      const host = (await docker(['inspect', '--format', format, id])).trim();
      return await untilSelect(begun, { host, user: 'postgres', password: PASSWORD });
    } finally {
      await docker(['rm', '-fv', id]);
    }
  }

  /** Runs `pg_dump` or `pg_restore` against a datastore on this machine: the milliseconds from start to end. */
  async tool(
    row: DatastoreRow,
    how: { user: string; password: string; options?: string; argv: string[] },
  ): Promise<number> {
    const [program = '', ...rest] = how.argv;
    const begun = performance.now();
    const mount = `${this.#dir}:${FOLDER}`;
    const run = ['run', '--rm', '--label', this.#label, '--network', 'host', '-v', mount, '--entrypoint', program];
    const env = {
      PGHOST: hostOf(row),
      PGUSER: how.user,
      PGPASSWORD: how.password,
      PGSSLMODE: 'disable',
      PGOPTIONS: how.options ?? '',
    };
    const variables = Object.entries(env).flatMap(([name, value]) => ['-e', `${name}=${value}`]);
    await docker([...run, ...variables, IMAGE, ...rest]);
    return performance.now() - begun;
  }

  /** Path of a dump inside of the tools' container. */
  path(name: string): string {
    return join(FOLDER, name);
  }
}
