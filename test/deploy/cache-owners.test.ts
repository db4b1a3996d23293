import { describe, expect, test } from 'bun:test';
import { cacheRecord } from '#engines/builder/buildkit-cache';
import type { CacheRecord } from '#engines/builder/port';
import {
  type BuildWindow,
  cacheScope,
  droppable,
  droppedWith,
  lettersOf,
  type Owners,
  ownersOf,
  surplusOf,
} from '#deploy/cache-owners';

const record = (id: string, more: Partial<CacheRecord> = {}): CacheRecord => ({
  id,
  bytes: 10,
  parents: [],
  shared: false,
  inUse: false,
  mount: false,
  scope: null,
  description: '',
  command: '',
  createdAt: -1_000_000,
  lastUsedAt: 0,
  ...more,
});

const ENGINE = {
  ID: 'x',
  Type: 'exec.cachemount',
  InUse: false,
  Shared: false,
  Size: 5,
  CreatedAt: '2026-01-01T00:00:00Z',
};

const during = (key: string, begun: number, ended: number | null, dockerfile = ''): BuildWindow => ({
  key,
  begun,
  ended,
  letters: lettersOf(dockerfile),
});
const known = (owners: Record<string, string[]>): Owners =>
  new Map(Object.entries(owners).map(([id, keys]) => [id, new Set(keys)]));
const shown = (owners: Owners): Record<string, string[]> =>
  Object.fromEntries([...owners].map(([id, keys]) => [id, [...keys].toSorted()]));
const scopeOf = (key: string): string => cacheScope('i', key);

describe('scopes', () => {
  test('are different for different services, whatever dashes are in the names', () => {
    expect(cacheScope('i', 'a-b/c')).not.toBe(cacheScope('i', 'a/b-c'));
  });
});

describe('who used a record', () => {
  const find = (records: CacheRecord[], windows: BuildWindow[], before: Record<string, string[]> = {}) =>
    shown(ownersOf(records, known(before), windows, scopeOf));

  test('is whoever built when it was used last', () => {
    const windows = [during('p/a', 0, 10_000), during('p/b', 20_000, 30_000), during('p/c', 18_000, null)];
    const records = [5000, 14_000, 16_000, 19_000, 25_000, 50_000].map((lastUsedAt) =>
      record(`at${lastUsedAt}`, { lastUsedAt }),
    );
    expect(find(records, windows)).toEqual({
      at5000: ['p/a'],
      at14000: ['p/a'],
      at16000: [],
      at19000: ['p/c'],
      at25000: ['p/b', 'p/c'],
      at50000: ['p/c'],
    });
  });

  test('stays known, and others may come', () => {
    const windows = [during('p/b', 0, 10)];
    expect(find([record('x', { lastUsedAt: 5 })], windows, { x: ['p/a'], gone: ['p/a'] })).toEqual({
      x: ['p/a', 'p/b'],
    });
  });

  test('used also what is below it', () => {
    const records = [
      record('base'),
      record('deps', { parents: ['base'] }),
      record('app', { parents: ['deps', 'elsewhere'], lastUsedAt: 5 }),
    ];
    expect(find(records, [during('p/a', 0, 10)], { base: ['p/b'] })).toEqual({
      base: ['p/a', 'p/b'],
      deps: ['p/a'],
      app: ['p/a'],
    });
  });

  test('of a copy is known by what it stands on', () => {
    const copy = (id: string, parent: string): CacheRecord =>
      record(id, { parents: [parent], command: null, lastUsedAt: 5 });
    const records = [
      copy('mine', 'run'),
      copy('later', 'mine'),
      copy('foreign', 'base'),
      record('run', { parents: ['base'], lastUsedAt: 5 }),
      record('base', { command: null }),
    ];
    expect(find(records, [during('p/a', 0, 10)])).toEqual({
      mine: ['p/a'],
      later: ['p/a'],
      foreign: [],
      run: ['p/a'],
      base: ['p/a'],
    });
  });

  test('of two at the same time is not known of a layer, and found out later of a mount', () => {
    const both = [during('p/a', 0, 10), during('p/b', 0, 10)];
    const made = (lastUsedAt: number, mount: boolean): CacheRecord[] => [
      record('x', { createdAt: 5, lastUsedAt, mount }),
    ];
    expect(find(made(5, false), both)).toEqual({ x: ['p/a', 'p/b'] });
    expect(find(made(5, true), both)).toEqual({ x: ['p/a', 'p/b'] });
    expect(find(made(5, true), both, { x: ['p/a'] })).toEqual({ x: ['p/a'] });
    const alone = [during('p/b', 100_000, 100_010)];
    expect(find(made(100_005, true), alone, { x: ['p/a', 'p/b'] })).toEqual({ x: ['p/b'] });
  });

  test('of a mount is who made it, not who built while its size was asked', () => {
    const windows = [during('p/a', 0, 10), during('p/b', 100_000, 100_010)];
    const mount = record('x', { createdAt: 5, lastUsedAt: 100_005, mount: true });
    expect(find([mount], windows)).toEqual({ x: ['p/a'] });
    expect(find([mount], windows, { x: ['p/a'] })).toEqual({ x: ['p/a'] });
  });

  test('is what the engine says of a mount, but only of those who may have used it', () => {
    const both = [during('p/a', 0, 10), during('p/b', 0, 10)];
    const said = (key: string): CacheRecord[] => [
      record('x', { createdAt: 5, lastUsedAt: 5, mount: true, scope: scopeOf(key) }),
    ];
    expect(find(said('p/b'), both)).toEqual({ x: ['p/b'] });
    expect(find(said('p/victim'), both)).toEqual({ x: ['p/a', 'p/b'] });
  });
});

describe('whose command made a record', () => {
  const description = (command: string): string => `mount / from exec ${command}`;
  const owned = (dockerfile: string, made: string): boolean =>
    ownersOf(
      [{ ...cacheRecord({ ...ENGINE, Description: made }), createdAt: 5, lastUsedAt: 5 }],
      new Map(),
      [during('p/a', 0, 10, dockerfile)],
      scopeOf,
    )
      .get('x')
      ?.has('p/a') === true;
  const cases: [string, string, string, boolean][] = [
    ['the shell form', 'FROM x\nRUN npm ci', description('/bin/sh -c npm ci'), true],
    ['another command', 'FROM x\nRUN npm ci', description('/bin/sh -c pip install x'), false],
    ['flags', 'RUN --mount=type=cache,target=/x npm ci', description('/bin/sh -c npm ci'), true],
    [
      'a continued line',
      'RUN npm ci \\\n  && npm run build',
      description('/bin/sh -c npm ci   && npm run build'),
      true,
    ],
    [
      'the JSON form',
      'RUN ["/bin/sh", "-c", "cat \\u003c\\u003cX\\na \\"b\\"X"]',
      description('/bin/sh -c cat <<X\na "b"X'),
      true,
    ],
    ['the JSON form without a shell', 'RUN ["node", "x.js"]', description('node x.js'), true],
    ['a here-document', 'RUN <<EOF\napt update\nEOF', description('/bin/sh -c apt update\n'), true],
    ['a variable', 'ARG V=1\nRUN get $V', description('/bin/sh -c get $V'), true],
    [
      'another shell',
      'SHELL ["/bin/bash", "-o", "pipefail", "-c"]\nRUN get',
      description('/bin/bash -o pipefail -c get'),
      true,
    ],
    ['a mount', 'RUN npm ci', 'cached mount /root/.npm from exec /bin/sh -c npm ci', true],
    ['a mount with its id', 'RUN npm ci', 'cached mount /x from exec /bin/sh -c npm ci with id "i--p--a//x"', true],
    ["another's mount", 'RUN npm ci', 'cached mount /root/.npm from exec /bin/sh -c yarn', false],
    ["a copy, which may be anybody's", 'COPY . .', 'fileop target', false],
    ['a base image', 'FROM node', 'pulled from docker.io/library/node:24', false],
  ];
  test.each(cases)('%s', (_what, dockerfile, made, expected) => expect(owned(dockerfile, made)).toBe(expected));
});

describe('what goes with a service', () => {
  test('is what only it used, be it that an image has the same layer', () => {
    const records = [
      record('own'),
      record('both'),
      record('other'),
      record('image', { shared: true }),
      record('nobody'),
    ];
    const owners = known({ own: ['p/a'], both: ['p/a', 'p/b'], other: ['p/b'], image: ['p/a'], nobody: [] });
    expect(droppedWith(['p/a'], { records, owners })).toEqual(['own', 'image']);
    expect(droppedWith(['p/a', 'p/b'], { records, owners })).toEqual(['own', 'both', 'other', 'image']);
  });
});

test('a record on which another is built that stays, stays too', () => {
  const records = [
    record('base'),
    record('middle', { parents: ['base'] }),
    record('top', { parents: ['middle'] }),
    record('other', { parents: ['base'] }),
  ];
  const ids = ['base', 'middle', 'top'];
  expect(droppable(ids, records)).toEqual(['middle', 'top']);
  expect(droppable(['base', 'middle'], records)).toEqual([]);
  expect(droppable([...ids, 'other', 'unlisted'], records)).toEqual([...ids, 'other', 'unlisted']);
});

describe('what exceeds the bound of a service', () => {
  const chain = [
    record('base', { lastUsedAt: 1 }),
    record('old', { parents: ['base'], lastUsedAt: 2 }),
    record('new', { parents: ['base'], lastUsedAt: 9 }),
    record('mount', { mount: true, lastUsedAt: 8 }),
    record('image', { shared: true, bytes: 1000, lastUsedAt: 1 }),
    record('foreign', { bytes: 1000, lastUsedAt: 1 }),
  ];
  const owners = known({ base: ['p/a'], old: ['p/a'], new: ['p/a'], mount: ['p/a'], image: ['p/a'], foreign: ['p/b'] });
  const surplus = (limit: number, records = chain): string[] => surplusOf(['p/a'], limit, { records, owners });

  test('is nothing within it', () => expect(surplus(40)).toEqual([]));
  test('is what was used longest ago', () => expect(surplus(39)).toEqual(['old']));
  test('comes before what it is built on, which is as young as what stands on it', () =>
    expect(surplus(0)).toEqual(['old', 'mount', 'new', 'base']));
  test('is not what a build uses', () =>
    expect(
      surplus(
        39,
        chain.map((one) => ({ ...one, inUse: one.id === 'old' })),
      ),
    ).toEqual(['mount']));
});

describe('records of the engine', () => {
  const scope = (Description: string): string | null => cacheRecord({ ...ENGINE, Description }).scope;

  test('of Docker 20.10 do not name their scope', () =>
    expect(scope('cached mount /root/.npm from exec /bin/sh -c npm ci')).toBeNull());
  test('of later ones do', () =>
    expect(scope('cached mount /root/.npm from exec /bin/sh -c npm ci with id "i--p--a//root/.npm"')).toBe('i--p--a'));
  test('are not fooled by a command', () =>
    expect(scope('cached mount /x from exec /bin/sh -c : with id "i--p--b/x" with id "i--p--a/y"')).toBe('i--p--a'));
  test('are not fooled by an id', () =>
    expect(scope('cached mount /x from exec /bin/sh -c : with id "i--p--a/y with id \\"i--p--b/y"')).toBe('i--p--a'));
  test('have one parent or several', () => {
    const parents = (more: object): string[] => cacheRecord({ ...ENGINE, Description: '', ...more }).parents;
    expect([parents({}), parents({ Parent: '' }), parents({ Parent: 'a' }), parents({ Parents: ['a', 'b'] })]).toEqual([
      [],
      [],
      ['a'],
      ['a', 'b'],
    ]);
  });
});
