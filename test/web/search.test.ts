import { expect, test } from 'bun:test';
import { withChange } from '../../web/data/search.ts';

test('parameters of the address change one by one, and empty ones go', () => {
  const before = new URLSearchParams('kind=deploy&actor=ann');
  expect(withChange(before, { kind: '', range: '1h' }).toString()).toBe('actor=ann&range=1h');
  expect(withChange(before, { actor: undefined, kind: '<b>&' }).toString()).toBe('kind=%3Cb%3E%26');
  expect(before.toString()).toBe('kind=deploy&actor=ann');
});
