import { randomBytes } from 'node:crypto';
import { docker, removeByLabel } from '#test/support/docker.ts';
import { freePorts } from '#test/support/ports.ts';
import { buildImage } from './engine-build.ts';
import type { Scope } from './scope.ts';
import { untilAnswer } from './until.ts';

/** What a user without berth does: `docker build` by BuildKit, `docker run`, and curl until the app answers. */
export class PlainDocker {
  readonly #label = `dev.berth.bench=${randomBytes(4).toString('hex')}`;
  readonly #port: number;

  private constructor(port: number) {
    this.#port = port;
  }

  static async create(scope: Scope): Promise<PlainDocker> {
    const [port = 0] = await freePorts(1);
    const plain = new PlainDocker(port);
    scope.defer(() => removeByLabel(plain.#label));
    return plain;
  }

  /** Builds the archive, and gives the image's id. */
  build(archive: Uint8Array, options: { noCache?: boolean } = {}): Promise<string> {
    return buildImage(archive, { label: this.#label, noCache: options.noCache ?? false });
  }

  /** Runs an image until its first 200: the milliseconds since `begun`. The container is removed after that. */
  async runUntilAnswer(image: string, begun = performance.now()): Promise<number> {
    const argv = ['run', '-d', '--label', this.#label, '-p', `127.0.0.1:${this.#port}:8080`, image];
    const id = (await docker(argv)).trim();
    try {
      return await untilAnswer(begun, (init) => fetch(`http://127.0.0.1:${this.#port}/`, init));
    } finally {
      await docker(['rm', '-fv', id]);
    }
  }

  /** Both, one after the other: the milliseconds from the start of the build to the first 200. */
  async deploy(archive: Uint8Array, options: { noCache?: boolean } = {}): Promise<number> {
    const begun = performance.now();
    return this.runUntilAnswer(await this.build(archive, options), begun);
  }
}
