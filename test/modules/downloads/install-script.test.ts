import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeFolder, openDownloads, sha256, temporaryFolder, VERSION } from './support.ts';

const CLIENT = Buffer.from(`#!/bin/sh\necho ${VERSION}\n# ${'x'.repeat(100_000)}\n`);

/** What the script may use of a system besides its shell. */
const TOOLS = 'sh uname grep cut tail head sed awk df mkdir mktemp rm mv chmod wc tr sleep cat'.split(' ');

let root: string;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'install-tools-'));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** A folder for PATH with nothing but these; a tool may be given as a script. */
const toolbox = (name: string, tools: readonly string[], scripts: Record<string, string> = {}): string => {
  const folder = join(root, name);
  if (existsSync(folder)) return folder;
  mkdirSync(folder);
  for (const tool of tools) {
    const place = Bun.which(tool);
    if (place === null) throw new Error(`${tool} is not installed`);
    symlinkSync(place, join(folder, tool));
  }
  for (const [tool, text] of Object.entries(scripts)) {
    writeFileSync(join(folder, tool), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  }
  return folder;
};

const usual = (): string => toolbox('usual', [...TOOLS, 'curl', 'sha256sum', 'gzip']);

/** A system of busybox alone. */
const busybox = (): string => {
  const folder = join(root, 'busybox');
  if (existsSync(folder)) return folder;
  mkdirSync(folder);
  for (const tool of [...TOOLS, 'wget', 'sha256sum', 'gzip', 'ash'])
    symlinkSync(Bun.which('busybox') ?? '', join(folder, tool));
  return folder;
};

interface Run {
  url: string;
  path: string;
  shell?: readonly string[];
  home?: string;
  env?: Record<string, string>;
  /** Changes the script on its way. */
  edit?: (script: string) => string;
}

const install = async ({ url, path, shell = ['dash'], home = temporaryFolder(), env = {}, edit }: Run) => {
  const script = await (await fetch(`${url}/install.sh`)).text();
  const [program = '', ...flags] = shell;
  const child = Bun.spawn([Bun.which(program) ?? program, ...flags], {
    stdin: Buffer.from(edit?.(script) ?? script),
    stdout: 'pipe',
    stderr: 'pipe',
    env: { PATH: path, HOME: home, SHELL: '/bin/bash', ...env },
    cwd: home,
  });
  const [out, error, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { out, error, code, home, target: join(home, '.local/bin/berth') };
};

const SHELLS: Record<string, readonly string[]> = {
  dash: ['dash', '-s'],
  bash: ['bash', '-s'],
  'bash as sh': ['bash', '--posix', '-s'],
  'zsh as sh': ['zsh', '--emulate', 'sh', '-s'],
  'busybox ash': ['busybox', 'ash', '-s'],
};

describe.each(Object.entries(SHELLS))('under %s', (_name, shell) => {
  test('it installs, and says what to do next', async () => {
    const { url } = openDownloads({ folder: makeFolder(CLIENT) });
    const { out, error, code, target, home } = await install({ url, path: usual(), shell });
    expect([code, error]).toEqual([0, '']);
    expect(sha256(readFileSync(target))).toBe(sha256(CLIENT));
    expect(statSync(target).mode & 0o777).toBe(0o755);
    expect(readdirSync(join(home, '.local/bin'))).toEqual(['berth']);
    expect(out).toBe(
      [
        `Downloading berth ${VERSION} for linux-amd64 (0 MB) from ${url}`,
        `berth ${VERSION} is installed: ${target}`,
        '',
        `${home}/.local/bin is not in your PATH. Add it:`,
        `  echo 'export PATH="${home}/.local/bin:$PATH"' >> ~/.bashrc && . ~/.bashrc`,
        '',
        'Next:',
        `  berth login ${url}`,
        '',
      ].join('\n'),
    );
  });

  test('a second run finds it there, and a run for another version replaces it', async () => {
    const home = temporaryFolder();
    const first = openDownloads({ folder: makeFolder(CLIENT) });
    await install({ url: first.url, path: usual(), shell, home });
    const again = await install({ url: first.url, path: usual(), shell, home });
    expect(again.out).toStartWith(`berth ${VERSION} is already the newest: ${again.target}\n`);
    const other = Buffer.concat([CLIENT, Buffer.from('# newer\n')]);
    const second = openDownloads({ folder: makeFolder(other) });
    const third = await install({ url: second.url, path: usual(), shell, home });
    expect(third.code).toBe(0);
    expect(sha256(readFileSync(third.target))).toBe(sha256(other));
  });
});

describe('with other tools', () => {
  test.each([
    ['wget alone', [...TOOLS, 'wget', 'sha256sum', 'gzip']],
    ['openssl for checksums', [...TOOLS, 'curl', 'openssl', 'gzip']],
    ['shasum for checksums', [...TOOLS, 'curl', 'shasum', 'perl', 'gzip']],
    ['no gzip', [...TOOLS, 'curl', 'sha256sum']],
    ['zstd', [...TOOLS, 'curl', 'sha256sum', 'zstd']],
  ])('%s', async (name, tools) => {
    const { url } = openDownloads({ folder: makeFolder(CLIENT) });
    const { error, code, target } = await install({ url, path: toolbox(name, tools) });
    expect([code, error]).toEqual([0, '']);
    expect(sha256(readFileSync(target))).toBe(sha256(CLIENT));
  });

  test('a system of busybox', async () => {
    const { url } = openDownloads({ folder: makeFolder(CLIENT) });
    const { error, code, target } = await install({ url, path: busybox(), shell: ['busybox', 'ash', '-s'] });
    expect([code, error]).toEqual([0, '']);
    expect(sha256(readFileSync(target))).toBe(sha256(CLIENT));
  });

  test('a server without compressed forms', async () => {
    const { url } = openDownloads({ folder: makeFolder(CLIENT, { plain: true }) });
    const { code, target } = await install({ url, path: usual() });
    expect([code, sha256(readFileSync(target))]).toEqual([0, sha256(CLIENT)]);
  });

  test.each([
    ['neither curl nor wget is here', [...TOOLS, 'sha256sum', 'gzip']],
    ['nothing here computes SHA-256 checksums', [...TOOLS, 'curl', 'gzip']],
  ])('says that %s', async (said, tools) => {
    const { url } = openDownloads({ folder: makeFolder(CLIENT) });
    const { code, error } = await install({ url, path: toolbox(said, tools) });
    expect(code).toBe(1);
    expect(error).toStartWith(`error: ${said}\n  -> install `);
  });
});

describe('on systems', () => {
  const on = (kernel: string, machine: string, translated = '0'): string =>
    toolbox(
      `${kernel}-${machine}-${translated}`,
      [...TOOLS.filter((tool) => tool !== 'uname'), 'curl', 'sha256sum', 'gzip'],
      {
        uname: `case "$1" in -s) echo '${kernel}' ;; -m) echo '${machine}' ;; esac`,
        sysctl: `echo ${translated}`,
      },
    );

  test.each([
    ['Linux', 'x86_64', '0', 'linux-amd64'],
    ['Linux', 'aarch64', '0', 'linux-arm64'],
    ['Darwin', 'arm64', '0', 'darwin-arm64'],
    ['Darwin', 'x86_64', '0', 'darwin-amd64'],
    ['Darwin', 'x86_64', '1', 'darwin-arm64'],
  ] as const)('%s on %s (translated: %s) it takes %s', async (kernel, machine, translated, platform) => {
    const { url } = openDownloads({ folder: makeFolder(CLIENT, { platforms: [platform] }) });
    const { out, code, error } = await install({
      url,
      path: on(kernel, machine, translated),
      env: { SHELL: '/bin/zsh' },
    });
    expect([code, error]).toEqual([0, '']);
    expect(out).toContain(`for ${platform} `);
    expect(out).toContain('>> ~/.zshrc && . ~/.zshrc\n');
  });

  test.each([
    ['FreeBSD', 'amd64', 'berth has no client for FreeBSD'],
    ['Linux', 'riscv64', 'berth has no client for riscv64 processors'],
    ['Linux', 'aarch64', 'this server has no client for linux-arm64, only for: linux-amd64 darwin-arm64'],
  ])('%s on %s it says why it cannot', async (kernel, machine, said) => {
    const { url } = openDownloads({ folder: makeFolder(CLIENT) });
    const { code, error, home } = await install({ url, path: on(kernel, machine) });
    expect(code).toBe(1);
    expect(error).toStartWith(`error: ${said}\n  -> `);
    expect(readdirSync(home)).toEqual([]);
  });
});

describe('the folder', () => {
  test('is the one of BERTH_INSTALL_DIR, whatever its name', async () => {
    const { url } = openDownloads({ folder: makeFolder(CLIENT) });
    const folder = join(temporaryFolder(), "it's a $(folder)");
    const { code, out, error } = await install({
      url,
      path: usual(),
      env: { BERTH_INSTALL_DIR: folder, SHELL: '/usr/bin/fish' },
    });
    expect([code, error]).toEqual([0, '']);
    expect(readdirSync(folder)).toEqual(['berth']);
    expect(out).toContain(`fish_add_path '${folder.replaceAll("'", String.raw`'\''`)}'`);
  });

  test('that is in PATH already is not told', async () => {
    const { url } = openDownloads({ folder: makeFolder(CLIENT) });
    const folder = temporaryFolder();
    const { out } = await install({ url, path: `${usual()}:${folder}`, env: { BERTH_INSTALL_DIR: folder } });
    expect(out).not.toContain('PATH');
  });

  test('that cannot be made is told', async () => {
    const { url } = openDownloads({ folder: makeFolder(CLIENT) });
    const file = join(temporaryFolder(), 'file');
    writeFileSync(file, '');
    const { code, error } = await install({ url, path: usual(), env: { BERTH_INSTALL_DIR: join(file, 'bin') } });
    expect([code, error]).toEqual([
      1,
      `error: cannot make the folder ${file}/bin\n  -> set BERTH_INSTALL_DIR to a folder that you may write to\n`,
    ]);
  });

  test('without room is told before the download', async () => {
    const { url } = openDownloads({ folder: makeFolder(CLIENT) });
    const path = toolbox('full', [...TOOLS.filter((tool) => tool !== 'df'), 'curl', 'sha256sum', 'gzip'], {
      df: 'echo Filesystem 1024-blocks Used Available; echo /dev/x 100 100 7 100% /',
    });
    const { code, error, home } = await install({ url, path });
    expect(code).toBe(1);
    expect(error).toContain(`error: 0 MB are free in ${home}/.local/bin, and 1 MB are needed`);
    expect(readdirSync(join(home, '.local/bin'))).toEqual([]);
  });
});

describe('what goes wrong with the download', () => {
  const leavesNothing = (home: string): void => expect(readdirSync(join(home, '.local/bin'))).toEqual([]);

  test('a file that is not what was announced is thrown away', async () => {
    const folder = makeFolder(CLIENT);
    const { url } = openDownloads({ folder });
    const name = join(folder, 'berth-linux-amd64.gz');
    writeFileSync(name, readFileSync(name).fill(0, 20, 40));
    const { code, error, home } = await install({ url, path: usual() });
    expect(code).toBe(1);
    expect(error).toContain('its checksum differs');
    leavesNothing(home);
  });

  test('one that does not run, or is of another version, never takes the place of the old one', async () => {
    for (const [text, said] of [
      ['#!/bin/sh\necho 0.0.1\n', 'the download says that it is berth 0.0.1, not 1.2.3'],
      ['#!/bin/sh\necho broken >&2\nexit 1\n', 'berth does not run on this system: broken'],
    ] as const) {
      const { url } = openDownloads({ folder: makeFolder(Buffer.from(text)) });
      const home = temporaryFolder();
      mkdirSync(join(home, '.local/bin'), { recursive: true });
      writeFileSync(join(home, '.local/bin/berth'), 'the old one');
      chmodSync(join(home, '.local/bin/berth'), 0o755);
      const { code, error, target } = await install({ url, path: usual(), home });
      expect([code, error]).toEqual([1, expect.stringContaining(`error: ${said}`)]);
      expect(readFileSync(target, 'utf8')).toBe('the old one');
      expect(readdirSync(join(home, '.local/bin'))).toEqual(['berth']);
    }
  });

  test.each([
    ['curl', usual],
    ['wget', () => toolbox('wget alone', [...TOOLS, 'wget', 'sha256sum', 'gzip'])],
    ['the wget of busybox', busybox],
  ])(
    '%s goes on where the connection broke off',
    async (_name, path) => {
      const server = openDownloads({ folder: makeFolder(CLIENT, { plain: true }) });
      const ranges: (string | undefined)[] = [];
      // Stands between: cuts the first two replies, as a bad line would.
      const answer = async ({ url = '', headers }: IncomingMessage, response: ServerResponse): Promise<void> => {
        const { range } = headers;
        const reply = await fetch(`${server.url}${url}`, {
          headers: { 'accept-encoding': 'identity', ...(range === undefined ? {} : { range }) },
        });
        if (!url.startsWith('/dl/')) {
          response.end((await reply.text()).replaceAll(server.url, `http://${headers.host}`));
          return;
        }
        ranges.push(range);
        const bytes = await reply.bytes();
        response.writeHead(reply.status, Object.fromEntries(reply.headers));
        if (ranges.length > 2) response.end(bytes);
        else response.write(bytes.subarray(0, 30_000), () => setTimeout(() => response.destroy(), 50));
      };
      const between = createServer((request, response) => void answer(request, response));
      await new Promise<void>((resolve) => void between.listen(0, '127.0.0.1', resolve));
      const { port } = between.address() as AddressInfo;
      try {
        const { code, target, error } = await install({ url: `http://127.0.0.1:${port}`, path: path() });
        expect([code, error]).toEqual([0, '']);
        expect(sha256(readFileSync(target))).toBe(sha256(CLIENT));
        expect(ranges[0]).toBeUndefined();
        expect(ranges.at(-1)).toMatch(/^bytes=\d{5}-$/);
      } finally {
        between.close();
        between.closeAllConnections();
      }
    },
    30_000,
  );

  test('a server that is gone is told', async () => {
    const { url } = openDownloads({ folder: makeFolder(CLIENT) });
    const { code, error, home } = await install({
      url,
      path: toolbox('impatient', [...TOOLS.filter((tool) => tool !== 'sleep'), 'curl', 'sha256sum', 'gzip'], {
        sleep: ':',
      }),
      edit: (script) => script.replace(/^BASE_URL=.*$/m, "BASE_URL='http://127.0.0.1:9'"),
    });
    expect(code).toBe(1);
    expect(error).toContain('error: http://127.0.0.1:9/dl/berth-linux-amd64.gz could not be downloaded: curl: (7)');
    expect(error).toContain('  -> is the server up, and reachable from here?');
    leavesNothing(home);
  });

  test('half of the script does nothing', async () => {
    const { url } = openDownloads({ folder: makeFolder(CLIENT) });
    for (const share of [0.3, 0.6, 0.9, 0.99]) {
      const { home } = await install({ url, path: usual(), edit: (script) => script.slice(0, script.length * share) });
      expect(readdirSync(home)).toEqual([]);
    }
  });
});
