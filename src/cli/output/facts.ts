import { bytes } from './format.ts';
import { inert } from './style.ts';

/** An object of the API for people: a line a field, what is inside indented, what is null left out. */
export const factLines = (value: object, indent = ''): string[] =>
  Object.entries(value).flatMap(([key, inner]: [string, unknown]) => {
    const name = `${indent}${key.replaceAll('_', ' ')}`;
    const parts = (Array.isArray(inner) ? inner : [inner]).filter(isRecord);
    if (parts.length > 0) return [name, ...parts.flatMap((part) => factLines(part, `${indent}  `))];
    return inner === null ? [] : [`${name.padEnd(28)} ${shown(key, inner)}`];
  });

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

const shown = (key: string, value: unknown): string => {
  if (typeof value === 'number') return key.endsWith('bytes') ? bytes(value) : String(value);
  if (Array.isArray(value)) return inert(value.join(', '), false);
  return typeof value === 'string' ? inert(value.replaceAll('\n', ' '), false) : JSON.stringify(value);
};
