import { expect, test } from 'bun:test';
import { expiryOf, grantable, lifetimes, mayGrantAll } from '../../web/tokens/rights.ts';

const NOW = Date.parse('2026-01-01T00:00:00Z');
const rights = (more: object) => ({
  capabilities: ['read' as const, 'manage_tokens' as const],
  projects: ['shop'],
  token_expires_at: null,
  ...more,
});

test('only what the caller has can be handed on; an admin has everything', () => {
  expect(grantable(rights({}))).toEqual(['read', 'manage_tokens']);
  expect(grantable(rights({ capabilities: ['admin'] }))).toHaveLength(10);
  expect([mayGrantAll(rights({})), mayGrantAll(rights({ projects: ['*'] }))]).toEqual([false, true]);
});

test('lifetimes end with the caller’s own at the latest', () => {
  const values = (limit: string | null) =>
    lifetimes(rights({ token_expires_at: limit }), NOW).map(({ value }) => value);
  expect(values(null)).toEqual(['7', '30', '90', '365', 'never', 'date']);
  expect(values('2026-02-15T00:00:00Z')).toEqual(['7', '30', 'date']);
  expect(values('2026-01-02T00:00:00Z')).toEqual(['date']);
});

test('a lifetime becomes a time, or none', () => {
  expect(expiryOf('never', '', NOW)).toBeNull();
  expect(expiryOf('7', '', NOW)).toBe('2026-01-08T00:00:00.000Z');
  expect(Date.parse(expiryOf('date', '2026-03-01', NOW) ?? '')).toBeGreaterThan(
    Date.parse('2026-03-01T00:00:00-14:00'),
  );
});
