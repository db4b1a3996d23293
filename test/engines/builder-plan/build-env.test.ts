import { describe, expect, test } from 'bun:test';
import { renderBuildEnv } from '#engines/builder/dockerfile';
import { commandToArgv, shellQuote } from '#engines/builder/providers/support/shell';
import { BerthError } from '#kernel/errors';
import { fileOf, nodeApp, planOf } from './support.ts';

describe('the environment of a build', () => {
  test('is sorted, quoted, and free of what would break tools', () => {
    expect(renderBuildEnv({ B: "it's $HOME `id`\nRUN x", A: '', PATH: '/evil', HOME: '/x' })).toBe(
      "A=''\nB='it'\\''s $HOME `id`\nRUN x'\n",
    );
  });

  test.each(['a-b', '1a', 'a\nb', 'a=b', ''])('%j is no name', (name) => {
    expect(() => renderBuildEnv({ [name]: 'x' })).toThrow(BerthError);
  });

  test('a NUL byte is refused', () => {
    expect(() => renderBuildEnv({ A: '\0' })).toThrow('the value of A holds a NUL byte');
  });

  test('the shell reads back what was written', () => {
    const values = {
      PLAIN: 'a b',
      QUOTES: `'"\\`,
      DOLLAR: '$(echo evil) ${HOME} `id`',
      LINES: 'a\n b\n',
      UNICODE: 'ü→',
      GLOB: '* ? [a]',
    };
    for (const [name, value] of Object.entries(values)) {
      const script = `set -a; ${renderBuildEnv(values)} printf '%s' "$${name}"`;
      expect(Bun.spawnSync(['/bin/sh', '-c', script]).stdout.toString()).toBe(value);
    }
  });

  test('install and build see different files', () => {
    const plan = planOf(nodeApp({ dependencies: { a: '1' } }, { '.npmrc': '_authToken=${TOKEN}' }), {
      env: { TOKEN: 't', SECRET: 's' },
    });
    const env = { TOKEN: 't', SECRET: 's' };
    expect(fileOf(plan, 'berth/install-env', env)).toBe("TOKEN='t'\n");
    expect(fileOf(plan, 'berth/env', env)).toBe("SECRET='s'\nTOKEN='t'\n");
    expect(fileOf(plan, 'berth/Dockerfile', env)).not.toContain("'s'");
  });
});

describe('command lines', () => {
  test.each([
    ['node a.js', ['node', 'a.js']],
    [`node 'a b' "c d"`, ['node', 'a b', 'c d']],
    [`node a'b'`, ['/bin/sh', '-c', `exec node a'b'`]],
    ['node $A', ['/bin/sh', '-c', 'exec node $A']],
    ['node "$A"', ['/bin/sh', '-c', 'exec node "$A"']],
    ['A=1 node a', ['/bin/sh', '-c', 'exec env A=1 node a']],
    ['migrate && exit 4', ['/bin/sh', '-c', 'migrate && exit 4']],
    ['a; b', ['/bin/sh', '-c', 'a; b']],
    ['a && b', ['/bin/sh', '-c', 'a && exec b']],
    ['cd x && node "a && b"', ['/bin/sh', '-c', 'cd x && exec node "a && b"']],
    ['node a & wait', ['/bin/sh', '-c', 'node a & wait']],
    ['a || b', ['/bin/sh', '-c', 'a || b']],
    ['cd x', ['/bin/sh', '-c', 'cd x']],
    ['cd $X', ['/bin/sh', '-c', 'cd $X']],
    ['exec node a', ['/bin/sh', '-c', 'exec node a']],
    ['exec $A', ['/bin/sh', '-c', 'exec $A']],
    ['(a) && (b)', ['/bin/sh', '-c', '(a) && (b)']],
    ['node a # comment', ['/bin/sh', '-c', 'node a # comment']],
    ['node a\nnode b', ['/bin/sh', '-c', 'node a\nnode b']],
    ["node 'unclosed", ['/bin/sh', '-c', "node 'unclosed"]],
    ['./run.sh --x=1', ['./run.sh', '--x=1']],
    ['node ~/a', ['/bin/sh', '-c', 'exec node ~/a']],
    ['node *.js', ['/bin/sh', '-c', 'exec node *.js']],
  ])('%s', (command, argv) => {
    expect(commandToArgv(command)).toEqual(argv);
  });

  test.each(["it's", '$(id)', 'a\nb', '', '"'])('%j survives quoting', (word) => {
    expect(Bun.spawnSync(['/bin/sh', '-c', `printf '%s' ${shellQuote(word)}`]).stdout.toString()).toBe(word);
  });
});
