import { expect, test } from 'bun:test';
import { causeLine } from '../../web/ui/cause-line.ts';

const lineOf = (text: string): string | undefined => {
  const found = causeLine(text);
  return found === undefined ? undefined : text.slice(found.from, found.to);
};

test('the line that says why is found above the stack that follows it', () => {
  const node =
    "    throw new ERR_MODULE_NOT_FOUND(\n\nError [ERR_MODULE_NOT_FOUND]: Cannot find module\n    at load\n  code: 'ERR_MODULE_NOT_FOUND',";
  expect(lineOf(node)).toBe('Error [ERR_MODULE_NOT_FOUND]: Cannot find module');
  expect(lineOf("Traceback:\n  File 'a.py'\nModuleNotFoundError: No module named 'flask'")).toContain('flask');
  expect(lineOf('src/a.ts(3,5): error TS2304: no name\nnpm error code 2')).toContain('TS2304');
  expect(lineOf('> build\nnpm error code 1\nnpm error path /app')).toBe('npm error code 1');
  expect(lineOf('panic: boom\n\ngoroutine 1')).toBe('panic: boom');
});

test('words within other words are no cause, and nothing is found where nothing says so', () => {
  expect(lineOf('found 0 errors\nerror_page on\nerrors: none\nlistening')).toBeUndefined();
  expect(lineOf('')).toBeUndefined();
});
