import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { GitDeps } from './deps.ts';
import type { BaseEntry, Step } from './plan-commit.ts';
import type { ObjectId, RepoId } from './port.ts';
import { GitFailure } from './run.ts';

/** Never made: it is taken back before fast-import ends, which then only stores objects. */
const NO_REF = 'refs/berth/commit';
const NULL_ID = '0'.repeat(40);
const DEADLINE_MS = 60_000;

export interface NewCommit {
  parent: ObjectId | null;
  /** `Name <email> <seconds> <offset>`. */
  signature: string;
  message: string;
  steps: readonly Step[];
}

/** One `git fast-import` process, asked as git-fast-import(1) says. */
export interface FastImport {
  /** What a commit has at paths; those that it does not have are left out. */
  look(commit: ObjectId, paths: readonly string[]): Promise<Map<string, BaseEntry>>;
  /** The commit's id, and whether its tree is another than its parent's. */
  commit(commit: NewCommit): Promise<{ id: ObjectId; changed: boolean }>;
  /** Waits until all objects are on the disk. */
  finish(): Promise<void>;
  /** Gives up; what was stored is garbage that maintenance removes. */
  abandon(): Promise<void>;
}

export const startFastImport = ({ git, places }: GitDeps, repo: RepoId): FastImport => {
  const args = ['fast-import', '--quiet', '--done', '--date-format=raw'];
  const running = git.start({ args, repo, deadlineMs: DEADLINE_MS });
  const replies = new Lines(running.stdout);

  const fail = async (): Promise<never> => {
    running.kill();
    const end = await running.ended;
    const report = /fast_import_crash_\d+/.exec(end.stderr)?.[0];
    if (report !== undefined) await rm(join(places.of(repo), report), { force: true });
    throw new GitFailure('fast-import', end);
  };
  const say = (text: string): Promise<void> => running.write(Buffer.from(text));
  const hear = async (): Promise<string> => (await replies.next()) ?? fail();
  /** Asks while it listens: replies that nobody reads would stop git from reading questions. */
  const ask = async (questions: readonly string[]): Promise<string[]> => {
    const heard: string[] = [];
    const listen = async (): Promise<void> => {
      while (heard.length < questions.length) heard.push(await hear());
    };
    await Promise.all([say(questions.join('')), listen()]);
    return heard;
  };

  return {
    look: async (commit, paths) => {
      const heard = await ask(paths.map((path) => `ls ${commit} ${quotePath(path)}\n`));
      const entries = new Map<string, BaseEntry>();
      paths.forEach((path, index) => {
        const [, mode, id] = ENTRY.exec(heard[index] ?? '') ?? [];
        if (mode !== undefined && id !== undefined) entries.set(path, { mode, id });
      });
      return entries;
    },
    commit: async ({ parent, signature, message, steps }) => {
      const from = parent === null ? '' : `from ${parent}\n`;
      const body = Buffer.from(message);
      await say(
        `commit ${NO_REF}\nmark :1\nauthor ${signature}\ncommitter ${signature}\ndata ${body.length}\n${message}${from}`,
      );
      for (const step of steps) await running.write(lineOf(step));
      await say(`\nreset ${NO_REF}\nfrom ${NULL_ID}\n\n`);
      const questions = ['get-mark :1\n', 'ls :1 ""\n', ...(parent === null ? [] : [`ls ${parent} ""\n`])];
      const [id = '', tree = '', before = NO_TREE] = await ask(questions);
      return { id, changed: tree !== before };
    },
    finish: async () => {
      await say('done\n');
      await running.end();
      const end = await running.ended;
      if (end.code !== 0) await fail();
    },
    abandon: async () => {
      await say('done\n');
      await running.end();
      await running.ended;
    },
  };
};

const ENTRY = /^(\d{6}) \w+ ([0-9a-f]+)\t/;
/** How an empty tree is answered. */
const NO_TREE = 'missing ';

const lineOf = (step: Step): Uint8Array => {
  const path = quotePath(step.path);
  if (step.step === 'remove') return Buffer.from(`D ${path}\n`);
  if (step.step === 'put') return Buffer.from(`M ${step.mode} ${step.id} ${path}\n`);
  return Buffer.concat([
    Buffer.from(`M ${step.mode} inline ${path}\ndata ${step.content.length}\n`),
    step.content,
    Buffer.from('\n'),
  ]);
};

/** Bytes as they are, but for those that would end a quoted string. */
const quotePath = (path: string): string =>
  `"${path.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`;

/** The lines of a stream, one at a time. */
class Lines {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  #rest = '';

  constructor(stream: ReadableStream<Uint8Array>) {
    this.#reader = stream.getReader();
  }

  /** Undefined at the end. Only ASCII is looked at in them, so bytes pass as Latin-1. */
  async next(): Promise<string | undefined> {
    for (;;) {
      const end = this.#rest.indexOf('\n');
      if (end !== -1) {
        const line = this.#rest.slice(0, end);
        this.#rest = this.#rest.slice(end + 1);
        return line;
      }
      const { done, value } = await this.#reader.read();
      if (done) return undefined;
      this.#rest += Buffer.from(value).toString('latin1');
    }
  }
}
