import { ChangeReader } from './changes.ts';
import type { Commit, Person } from './port.ts';

/** Options that make `git log` print what CommitReader reads. */
export const COMMIT_OPTIONS = [
  '-z',
  '--date=raw',
  '--format=tformat:%H%x00%P%x00%an%x00%ae%x00%ad%x00%cn%x00%ce%x00%cd%x00%B%x00',
] as const;
const FIELDS = 9;

/** Reads what `git log` prints with COMMIT_OPTIONS and, maybe, CHANGE_OPTIONS, field by field. */
export class CommitReader {
  readonly #read: { commit: Commit; changes: ChangeReader | undefined }[] = [];
  readonly #maxFiles: number | undefined;
  #fields: Buffer[] = [];

  /** `maxFiles`: of each commit; undefined when git was not asked for them. */
  constructor(maxFiles: number | undefined) {
    this.#maxFiles = maxFiles;
  }

  take(field: Buffer): void {
    if (this.#fields.length === 0 && this.#read.at(-1)?.changes?.take(field) === true) return;
    // A copy: fields are views of a chunk that is read over.
    if (this.#fields.length < FIELDS) this.#fields.push(Buffer.from(field));
    // The NUL after the last field is `-z`'s own.
    else this.#finish();
  }

  #finish(): void {
    const [id, parents, an, ae, ad, cn, ce, cd, message] = this.#fields.map((field) => field.toString('utf8'));
    this.#fields = [];
    const commit = {
      id: id ?? '',
      parents: (parents ?? '').split(' ').filter((parent) => parent !== ''),
      author: personOf(an, ae, ad),
      committer: personOf(cn, ce, cd),
      ...splitMessage(message ?? ''),
    };
    const changes = this.#maxFiles === undefined ? undefined : new ChangeReader(this.#maxFiles);
    this.#read.push({ commit, changes });
  }

  /** All that were read, once the output has ended. */
  commits(): Commit[] {
    return this.#read.map(({ commit, changes }) =>
      changes === undefined ? commit : { ...commit, files: changes.files, files_truncated: changes.truncated },
    );
  }
}

const personOf = (name = '', email = '', date = ''): Person => ({ name, email, at: timeOf(date) });

/** First line and rest; git itself allows a message to be anything. */
export const splitMessage = (message: string): { subject: string; body: string } => {
  const text = message.replace(/^\n+/, '');
  const end = text.indexOf('\n');
  if (end === -1) return { subject: text, body: '' };
  return {
    subject: text.slice(0, end).trimEnd(),
    body: text
      .slice(end + 1)
      .replace(/^(?:[ \t\r]*\n)+/, '')
      .trimEnd(),
  };
};

const LATEST = 253_402_300_799;
const MINUTES_OF_DAY = 24 * 60;

/**
 * RFC 3339 of git's raw date, `<seconds> <+hhmm>`. Commits hold any numbers: what RFC 3339 cannot say is brought into its
 * range, as are dates that git cannot read.
 */
export const timeOf = (raw: string): string => {
  const [, digits = '0', sign = '+', hours = '00', minutes = '00'] = /^(-?\d+) ([+-])(\d+)(\d\d)$/.exec(raw) ?? [];
  const seconds = Math.min(Math.max(Number(digits), 0), LATEST);
  const given = Number(hours) * 60 + Number(minutes);
  const offset = given < MINUTES_OF_DAY && Number(minutes) < 60 ? given : 0;
  const shift = offset * (sign === '-' ? -60 : 60);
  const local = new Date(Math.min(Math.max(seconds + shift, 0), LATEST) * 1000).toISOString().slice(0, 19);
  if (offset === 0) return `${local}Z`;
  return `${local}${sign}${String(Math.floor(offset / 60)).padStart(2, '0')}:${String(offset % 60).padStart(2, '0')}`;
};
