import { BerthError } from '#kernel/errors';

/** A write in a session that may only read, in the database's own words where it has any. */
export const onlyReads = (message: string, cause?: unknown): BerthError =>
  new BerthError('CAPABILITY_MISSING', message, {
    hint: 'this session may only read: ask for a write, which needs the capability manage_datastores',
    cause,
  });
