import { expect, test } from 'bun:test';
import { worstFirst } from '../../web/admin/health.tsx';

const check = (id: string, status: 'ok' | 'warn' | 'fail') => ({ id, title: id, status, detail: '', next: null });

test('of what the server found the worst comes first, and the rest keeps its order', () => {
  const checks = [check('a', 'ok'), check('b', 'warn'), check('c', 'ok'), check('d', 'fail'), check('e', 'warn')];
  expect(worstFirst(checks).map(({ id }) => id)).toEqual(['d', 'b', 'e', 'a', 'c']);
});
