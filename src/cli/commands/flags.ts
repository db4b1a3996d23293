import type { FlagSpecs } from '../command.ts';

/** Flags that several commands share, declared once. */
export const DETACH = {
  detach: { type: 'boolean', short: 'd', summary: 'return at once instead of following the operation' },
} as const satisfies FlagSpecs;
export const DRY_RUN = {
  'dry-run': { type: 'boolean', summary: 'show what would happen; change nothing' },
} as const satisfies FlagSpecs;
export const YES = {
  yes: { type: 'boolean', short: 'y', summary: 'do it without asking' },
} as const satisfies FlagSpecs;
export const PAGING = {
  limit: { type: 'number', value: 'N', integer: true, min: 1, summary: 'at most so many (default 50)' },
  all: { type: 'boolean', summary: 'all of them, page after page' },
  cursor: { type: 'string', value: 'CURSOR', summary: 'go on where the list before ended (its next_cursor)' },
} as const satisfies FlagSpecs;
