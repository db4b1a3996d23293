import { rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const REFILL_MS = 10;
const PAGE_BYTES = 4096;
const MARGIN_BYTES = 4 * 1024 * 1024;

/** A file system of its own for a data directory, small enough to be filled by a test. */
export class SmallDisk {
  readonly dir: string;
  #refill: ReturnType<typeof setInterval> | undefined;

  private constructor(dir: string) {
    this.dir = dir;
  }

  /** In memory. What containers write to it counts as memory of theirs. */
  static async inMemory(dir: string, megabytes: number): Promise<SmallDisk> {
    await run(['mount', '-t', 'tmpfs', '-o', `size=${megabytes}m,mode=0700`, 'berth-test', dir]);
    return new SmallDisk(dir);
  }

  /** In a sparse file beside `dir`, which goes with it. */
  static async inFile(dir: string, megabytes: number): Promise<SmallDisk> {
    const file = `${dir}.img`;
    await run(['truncate', '--size', `${megabytes}M`, file]);
    // Without blocks that only root may use: berth and its apps are root here.
    await run(['mkfs.ext4', '-q', '-m', '0', file]);
    await run(['mount', '-o', 'loop', file, dir]);
    return new SmallDisk(dir);
  }

  get freeBytes(): number {
    const disk = statfsSync(this.dir);
    return disk.bavail * disk.bsize;
  }

  /** Leaves `bytes` free. With 0 not one more page can be written, also when others delete files later. */
  async fill(bytes: number): Promise<void> {
    // Others write at the same time: the end is filled page by page.
    const ballast = this.freeBytes - (bytes === 0 ? MARGIN_BYTES : bytes);
    if (ballast > 0) await run(['fallocate', '-l', String(ballast), join(this.dir, 'ballast')]);
    if (bytes > 0) return;
    this.#takeTheRest();
    this.#refill = setInterval(() => this.#takeTheRest(), REFILL_MS);
  }

  free(): void {
    clearInterval(this.#refill);
    rmSync(join(this.dir, 'ballast'), { force: true });
    rmSync(join(this.dir, 'ballast.rest'), { force: true });
  }

  #takeTheRest(): void {
    const page = Buffer.alloc(PAGE_BYTES);
    for (;;) {
      try {
        writeFileSync(join(this.dir, 'ballast.rest'), page, { flag: 'a' });
      } catch (error) {
        if (error instanceof Error && 'code' in error && error.code === 'ENOSPC') return;
        throw error;
      }
    }
  }

  async unmount(): Promise<void> {
    clearInterval(this.#refill);
    await run(['umount', '--lazy', this.dir]);
  }
}

const run = async (argv: string[]): Promise<void> => {
  const child = Bun.spawn(argv, { stdout: 'ignore', stderr: 'pipe' });
  const error = await new Response(child.stderr).text();
  if ((await child.exited) !== 0) throw new Error(`${argv.join(' ')}: ${error}`);
};
