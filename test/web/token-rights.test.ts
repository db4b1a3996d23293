import { expect, test } from 'bun:test';
import { dayOf, expiryOf, grantable, lifetimes, mayGrantAll, tokenChanges } from '../../web/tokens/rights.ts';

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
  expect(values('2026-02-15T00:00:00Z')).toEqual(['7', '30', 'limit', 'date']);
  expect(values('2026-01-02T00:00:00Z')).toEqual(['limit', 'date']);
});

test('a lifetime becomes a time, or none', () => {
  const around = { now: NOW, limit: null };
  expect(expiryOf({ lifetime: 'never', date: '' }, around)).toBeNull();
  expect(expiryOf({ lifetime: '7', date: '' }, around)).toBe('2026-01-08T00:00:00.000Z');
  expect(Date.parse(expiryOf({ lifetime: 'date', date: '2026-03-01' }, around) ?? '')).toBeGreaterThan(
    Date.parse('2026-03-01T00:00:00-14:00'),
  );
});

test('the last day of the caller’s own token ends with it, and not at midnight', () => {
  const limit = '2026-03-01T10:00:00.000Z';
  const around = { now: NOW, limit };
  expect(expiryOf({ lifetime: 'limit', date: '' }, around)).toBe(limit);
  expect(expiryOf({ lifetime: 'date', date: dayOf(Date.parse(limit)) }, around)).toBe(limit);
  expect(expiryOf({ lifetime: 'date', date: '2099-01-01' }, around)).toStartWith('2099-01-0');
});

test('only what differs is sent, and the order of a choice is no difference', () => {
  const before = { capabilities: ['read' as const, 'deploy' as const], projects: ['shop', 'blog'] };
  const after = { capabilities: ['deploy' as const, 'read' as const], projects: ['blog', 'shop'] };
  expect(tokenChanges(before, { ...after, expires_at: undefined })).toEqual({});
  expect(tokenChanges(before, { ...after, expires_at: null })).toEqual({ expires_at: null });
  expect(tokenChanges(before, { capabilities: ['read'], projects: ['*'], expires_at: undefined })).toEqual({
    capabilities: ['read'],
    projects: ['*'],
  });
});
