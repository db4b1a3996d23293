import { defineCommand } from '../command.ts';
import { bytes } from '../output/format.ts';

export const capacity = defineCommand({
  name: 'capacity',
  summary: 'Show what the server has and uses (administrators)',
  examples: [{ line: 'berth capacity', says: 'memory, CPU, disk, apps' }],
  scope: 'server',
  args: {},
  flags: {},
  run: async (context) => {
    const reply = await (await context.api()).capacity();
    context.out.data(reply, () => lines(reply, '').join('\n'));
  },
});

const lines = (value: Record<string, unknown>, indent: string): string[] =>
  Object.entries(value).flatMap(([key, inner]) => {
    const name = `${indent}${key.replaceAll('_', ' ')}`;
    const parts = (Array.isArray(inner) ? inner : [inner]).filter(isRecord);
    if (parts.length > 0) return [name, ...parts.flatMap((part) => lines(part, `${indent}  `))];
    return inner === null ? [] : [`${name.padEnd(28)} ${shown(key, inner)}`];
  });

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

const shown = (key: string, value: unknown): string => {
  if (typeof value === 'number') return key.endsWith('bytes') ? bytes(value) : String(value);
  return typeof value === 'string' ? value : JSON.stringify(value);
};
