import { expect, test } from 'bun:test';
import { gitIdentity } from '#modules/repos';

test.each([
  ['ci@shop', 'ci@shop'],
  ['admin', 'admin@users.berth.invalid'],
  ['Jürgen <x> "Q"', 'j-rgen-x-q@users.berth.invalid'],
  ['a@b@c', 'a-b-c@users.berth.invalid'],
  ['', 'unknown@users.berth.invalid'],
])('the principal %j is one person in every history', (principal, email) => {
  expect(gitIdentity(principal)).toEqual({ name: principal, email });
});
