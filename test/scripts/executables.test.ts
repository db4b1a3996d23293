import { expect, test } from 'bun:test';
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atEnd } from '#test/support/preload.ts';
import { withoutZeros } from '../../scripts/build/elf.ts';
import { withoutSignature } from '../../scripts/build/macho.ts';

const temporaryFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'executables-'));
  atEnd(() => rmSync(folder, { recursive: true }));
  return folder;
};

test('an executable for Linux runs without the zeros that Bun writes, and is smaller by them', async () => {
  const folder = temporaryFolder();
  const text = 'what is embedded is found '.repeat(1000);
  writeFileSync(join(folder, 'hello.ts'), `console.log(${JSON.stringify(text)}.length, process.argv.slice(2).join());`);
  const outfile = join(folder, 'hello');
  await Bun.build({ entrypoints: [join(folder, 'hello.ts')], compile: { outfile } });
  const before = statSync(outfile).size;
  const smaller = withoutZeros(readFileSync(outfile));
  writeFileSync(outfile, smaller);
  chmodSync(outfile, 0o755);
  const child = Bun.spawn([outfile, 'a', 'b'], { stdout: 'pipe' });
  expect(await new Response(child.stdout).text()).toBe(`${text.length} a,b\n`);
  expect(before - smaller.length).toBeGreaterThan(1_000_000);
}, 60_000);

test('what is no such executable is refused, and never written', () => {
  expect(() => withoutZeros(readFileSync(import.meta.path))).toThrow('no 64-bit ELF');
  expect(() => withoutZeros(readFileSync('/bin/sh'))).toThrow('no section .bun');
  expect(() => withoutSignature(Buffer.alloc(64))).toThrow('no 64-bit Mach-O');
});

test('the signature is the one command that is taken out of a Mach-O executable', () => {
  const command = (kind: number, ...words: number[]): number[] => [kind, 8 + words.length * 4, ...words];
  const header = (count: number, bytes: number): number[] => [0xfeedfacf, 0x01000007, 3, 2, count, bytes, 0, 0];
  const words = (list: number[]): Buffer => Buffer.from(new Uint32Array(list).buffer);
  const signed = [...command(0x19, 1, 2), ...command(0x1d, 100, 20), ...command(0x2a, 7)];
  const plain = [...command(0x19, 1, 2), ...command(0x2a, 7), 0, 0, 0, 0];
  const code = [1, 2, 3];
  expect(withoutSignature(words([...header(3, 44), ...signed, ...code]))).toEqual(
    words([...header(2, 28), ...plain, ...code]),
  );
  const without = words([...header(2, 28), ...plain, ...code]);
  expect(withoutSignature(without)).toEqual(without);
});
