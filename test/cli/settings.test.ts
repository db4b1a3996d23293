import { afterEach, beforeEach, expect, test } from 'bun:test';
import { chmodSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { CliFailure } from '#cli/failure';
import type { Io } from '#cli/io';
import { findFolderConfig, nameFromFolder, writeFolderConfig } from '#cli/settings/folder';
import { changeProfiles, configFile, mendExposure, readProfiles, writeProfiles } from '#cli/settings/profiles';
import { isPlainRemote, normalEndpoint, resolveServer } from '#cli/settings/server';
import { Home } from './support/cli.ts';

let home: Home;
beforeEach(() => {
  home = new Home();
});
afterEach(() => home.remove());

const io = (env: Record<string, string> = {}): Io =>
  ({ env: { XDG_CONFIG_HOME: home.path('config'), ...env }, home: home.dir, cwd: home.dir }) as unknown as Io;

const SAVED = {
  current: 'work',
  profiles: {
    work: { endpoint: 'https://work.example', token: 'brt_work' },
    home: { endpoint: 'http://127.0.0.1:4400', token: 'brt_home' },
  },
};

test('profiles are written whole, for their owner alone, and leave nothing beside', async () => {
  const file = configFile(io());
  await writeProfiles(file, SAVED);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(statSync(home.path('config', 'berth')).mode & 0o777).toBe(0o700);
  expect(readdirSync(home.path('config', 'berth'))).toEqual(['config.json']);
  expect(await readProfiles(file)).toEqual(SAVED);
  expect(await mendExposure(file)).toBe('private');
  chmodSync(file, 0o640);
  expect(await mendExposure(file)).toBe('mended');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(await mendExposure(home.path('no', 'such', 'file'))).toBe('private');
});

test('servers that are saved at the same time are all kept', async () => {
  const file = configFile(io());
  const names = Array.from({ length: 20 }, (_none, index) => `server-${index}`);
  await Promise.all(
    names.map((name) =>
      changeProfiles(file, ({ profiles }) => ({
        current: name,
        profiles: { ...profiles, [name]: { endpoint: `https://${name}.example`, token: 'brt_x' } },
      })),
    ),
  );
  expect(Object.keys((await readProfiles(file)).profiles).sort()).toEqual(names.sort());
  expect(readdirSync(home.path('config', 'berth'))).toEqual(['config.json']);
});

test('a lock that a dead process left is taken over', async () => {
  const file = configFile(io());
  await writeProfiles(file, SAVED);
  writeFileSync(`${file}.lock`, '');
  const longAgo = new Date(Date.now() - 60_000);
  utimesSync(`${file}.lock`, longAgo, longAgo);
  await changeProfiles(file, (saved) => ({ ...saved, current: 'home' }));
  expect((await readProfiles(file)).current).toBe('home');
});

test('a folder that cannot be made is told with what to do', async () => {
  home.write({ config: 'a file where the folder should be' });
  const thrown = await writeProfiles(configFile(io()), SAVED).catch((reason: unknown) => reason);
  expect((thrown as CliFailure).body).toMatchObject({ code: 'LOCAL_ERROR', hint: 'check the path' });
  expect((thrown as CliFailure).message).toStartWith(`cannot write ${configFile(io())}`);
});

test('the certificate of a private authority is that of the flag, the variable or the profile', async () => {
  const pem = (name: string): string => `-----BEGIN CERTIFICATE-----\n${name}\n-----END CERTIFICATE-----\n`;
  const work = { endpoint: 'https://work.example', token: 'brt_work', ca: pem('saved') };
  await writeProfiles(configFile(io()), { current: 'work', profiles: { work } });
  home.write({ 'ca.pem': pem('given'), 'other.pem': 'no certificate' });
  expect((await resolveServer(io(), {})).ca).toBe(pem('saved'));
  expect((await resolveServer(io({ BERTH_CA: home.path('ca.pem') }), {})).ca).toBe(pem('given'));
  expect((await resolveServer(io(), { ca: 'ca.pem' })).ca).toBe(pem('given'));
  expect((await resolveServer(io(), { endpoint: 'https://other.example' })).ca).toBeUndefined();
  expect(resolveServer(io(), { ca: 'other.pem' })).rejects.toThrow('holds no certificate in PEM form');
  expect(resolveServer(io(), { ca: 'none.pem' })).rejects.toThrow('cannot read the certificate');
});

test('a damaged file is named, and not overwritten', async () => {
  home.write({ 'config/berth/config.json': '{ not json' });
  expect(readProfiles(configFile(io()))).rejects.toThrow('is damaged');
});

test('the file stands in ~/.config without XDG_CONFIG_HOME', () => {
  expect(configFile({ env: {}, home: '/home/me' })).toBe('/home/me/.config/berth/config.json');
});

test('flags win over variables, and variables over the profile', async () => {
  await writeProfiles(configFile(io()), SAVED);
  const env = { SERVICE_ENDPOINT: 'https://env.example', SERVICE_TOKEN: 'brt_env' };
  expect(await resolveServer(io(), {})).toEqual({
    endpoint: 'https://work.example',
    token: 'brt_work',
    profile: 'work',
    ca: undefined,
  });
  expect(await resolveServer(io(env), {})).toEqual({
    endpoint: 'https://env.example',
    token: 'brt_env',
    profile: undefined,
    ca: undefined,
  });
  expect(await resolveServer(io(env), { endpoint: 'https://flag.example', token: 'brt_flag' })).toMatchObject({
    endpoint: 'https://flag.example',
    token: 'brt_flag',
  });
  expect(await resolveServer(io(env), { profile: 'home' })).toEqual({
    endpoint: 'http://127.0.0.1:4400',
    token: 'brt_home',
    profile: 'home',
    ca: undefined,
  });
  expect(await resolveServer(io({ BERTH_PROFILE: 'home' }), {})).toMatchObject({ profile: 'home' });
});

test('a saved token is sent to its own server only', async () => {
  await writeProfiles(configFile(io()), SAVED);
  expect(await resolveServer(io(), { endpoint: 'https://evil.example' })).toMatchObject({ token: undefined });
  expect(await resolveServer(io({ SERVICE_ENDPOINT: 'https://evil.example' }), {})).toMatchObject({ token: undefined });
  expect(await resolveServer(io(), { endpoint: 'http://127.0.0.1:4400/' })).toMatchObject({ token: 'brt_home' });
  expect(await resolveServer(io(), { profile: 'work', endpoint: 'https://evil.example' })).toMatchObject({
    token: undefined,
  });
});

test('without any server, the way to one is said', async () => {
  const thrown = await resolveServer(io(), {}).catch((reason: unknown) => reason);
  expect(thrown).toBeInstanceOf(CliFailure);
  expect((thrown as CliFailure).body).toEqual({
    code: 'USAGE',
    message: 'no server is set',
    hint: 'run: berth login <url>, or give --endpoint, or set SERVICE_ENDPOINT',
    retryable: false,
  });
});

test('an unknown profile is told with the known ones', async () => {
  await writeProfiles(configFile(io()), SAVED);
  const thrown = await resolveServer(io(), { profile: 'wrok' }).catch((reason: unknown) => reason);
  expect((thrown as CliFailure).body.hint).toBe('did you mean "work"?');
});

test.each([
  ['https://api.example.com/', 'https://api.example.com'],
  ['https://api.example.com/v1', 'https://api.example.com'],
  ['https://example.com/berth/v1/', 'https://example.com/berth'],
  ['api.example.com', 'https://api.example.com'],
  ['localhost:4400', 'http://localhost:4400'],
  ['127.0.0.1:4400', 'http://127.0.0.1:4400'],
  ['HTTPS://API.Example.com:443', 'https://api.example.com'],
])('%s is the server %s', (given, endpoint) => {
  expect(normalEndpoint(given)).toBe(endpoint);
});

test.each(['', 'ftp://x', 'https://user:pw@host', 'https://host/?token=x', 'https://host/#x', 'http://', 'a b'])(
  '%j is no server',
  (given) => {
    expect(() => normalEndpoint(given)).toThrow('is no address');
  },
);

test('only plain HTTP over a network is warned about', () => {
  expect(
    [
      'http://127.0.0.1:1',
      'http://localhost:1',
      'http://[::1]:1',
      'https://x.example',
      'http://x.example',
      'http://10.0.0.1',
    ].map(isPlainRemote),
  ).toEqual([false, false, false, false, true, true]);
});

test('a folder below finds what was written above', async () => {
  home.write({ 'app/src/deep/file': '' });
  await writeFolderConfig(home.path('app'), { project: 'shop', service: 'web' });
  expect(await findFolderConfig(home.path('app/src/deep'))).toEqual({
    folder: home.path('app'),
    config: { project: 'shop', service: 'web' },
  });
});

test.each([
  ['My Shop', 'my-shop'],
  ['2024_report--v2', 'report-v2'],
  ['ünïcode', 'n-code'],
  ['---', undefined],
  ['123', undefined],
  ['a'.repeat(40), 'a'.repeat(30)],
  [`${'a'.repeat(29)}-b`, 'a'.repeat(29)],
])('the folder %j proposes the name %j', (folder, name) => {
  expect(nameFromFolder(folder)).toBe(name as string);
});
