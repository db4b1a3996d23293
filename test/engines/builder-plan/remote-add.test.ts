import { describe, expect, test } from 'bun:test';
import { refuseRemoteAdds } from '#engines/builder/dockerfile-remote';
import { BerthError } from '#kernel/errors';

const outcome = (text: string, args: Record<string, string> = {}): string => {
  try {
    refuseRemoteAdds(text, args);
    return 'accepted';
  } catch (thrown) {
    if (!(thrown instanceof BerthError)) throw thrown;
    expect(thrown.kind).toBe('INVALID_INPUT');
    return `${thrown.message} (${thrown.hint})`;
  }
};

describe('refused is', () => {
  const cases: [string, string, Record<string, string>?][] = [
    ['a port of the server', 'FROM x\nADD http://127.0.0.1:4401/api/rawdata /x'],
    ['an address of anybody, which may lead on to the server', 'ADD https://example.com/a.tgz /x'],
    ['a metadata service', 'ADD http://169.254.169.254/latest/ /x'],
    ['a repository', 'ADD git@github.com:who/what.git /x'],
    ['a repository by another protocol', 'ADD ssh://git@host/what.git /x'],
    ['the second source', 'ADD a.txt https://example.com/b /x/'],
    ['one behind flags', 'ADD --chown=1:1 --checksum=sha256:00 https://example.com/b /x/'],
    ['the JSON form', 'ADD ["http://127.0.0.1/x", "/x"]'],
    ['any case', 'add HTTP://127.0.0.1/x /x'],
    ['an ONBUILD trigger', 'ONBUILD ADD http://127.0.0.1/x /x'],
    ['a continued line', 'ADD \\\n  http://127.0.0.1/x \\\n  /x'],
    ['a continued line with comments in it', 'ADD \\\n# a comment\n\n  http://127.0.0.1/x /x'],
    ['a continued keyword', 'AD\\\nD http://127.0.0.1/x /x'],
    ['a continued address', 'ADD htt\\\np://127.0.0.1/x /x'],
    ['another escape character', '# escape=`\nADD `\nhttp://127.0.0.1/x /x'],
    ['quotes in it', 'ADD h"tt"p://127.0.0.1/x /x'],
    ['escapes in it', 'ADD h\\ttp://127.0.0.1/x /x'],
    ['what seems to be part of a script', 'RUN cat <<EOF\nx \\\nEOF\nADD http://127.0.0.1/x /x'],
    ['a variable with an address', 'ARG U=http://127.0.0.1/x\nADD $U /x'],
    ['a variable with an address, once', 'ARG U=x\nADD $U /x\nFROM y\nENV A=b U=http://127.0.0.1/x'],
    ['a variable with an address in quotes', 'ENV U "http://127.0.0.1/x"\nADD ${U} /x'],
    ['a variable that the project sets', 'ARG U=x\nADD $U /x', { U: 'http://127.0.0.1/x' }],
    ['an address made of variables', 'ARG A=http B=127.0.0.1\nADD $A://$B/x /x'],
    ['a variable of variables', 'ARG A=x\nARG B=$A\nADD $B /x'],
    ['a variable with a default of its own', 'ARG A\nADD ${A:-http://127.0.0.1/x} /x'],
    ['a variable with a pattern', 'ARG A=httpX//127.0.0.1\nADD ${A/X/:} /x'],
    ['one in more lines than are looked at', `ADD a${' \\\n b'.repeat(500)} http://127.0.0.1/x /x`],
    [
      'a variable from more lines than are looked at',
      `ENV A=a${' \\\n B=b'.repeat(500)} U=http://127.0.0.1\nADD $U$A /x`,
    ],
    ['a variable that only the base image knows', 'FROM evil\nADD $U /x'],
  ];
  test.each(cases)('%s', (...[, text, args]) =>
    expect(outcome(text, args)).toMatch(/^line \d+ of the Dockerfile has the server itself fetch .*(RUN|COPY|fewer)/),
  );
  test('with its line', () => expect(outcome('FROM x\n\nADD http://a/b /x')).toStartWith('line 3 '));
});

describe('accepted is', () => {
  const cases: [string, string, Record<string, string>?][] = [
    ['files of the source', 'FROM x\nADD . /app\nADD --chown=1:1 a b /x/'],
    ['an archive', 'ADD rootfs.tar.gz /'],
    ['JSON', 'ADD ["a b", "/x:y"]'],
    ['the usual argument', 'ARG JAR_FILE=target/*.jar\nADD ${JAR_FILE} app.jar'],
    ['the usual argument, from the project', 'ARG JAR_FILE\nADD ${JAR_FILE} app.jar', { JAR_FILE: 'build/app.jar' }],
    ['a platform', 'ADD bin-$TARGETOS-${TARGETARCH} /bin/x'],
    ['a here-document', 'ADD <<EOF /x\nhttp://127.0.0.1\nEOF'],
    ['a download inside the build', 'RUN curl -fsSL https://example.com/x | tar x'],
    ['a variable for something else', 'ENV U=http://127.0.0.1\nADD a /x\nRUN curl $U'],
    ['a colon in the target', 'ARG V=1\nADD a-$V /opt/x:y'],
    ['nothing', ''],
  ];
  test.each(cases)('%s', (...[, text, args]) => expect(outcome(text, args)).toBe('accepted'));
});

test('a hostile text takes no long time', () => {
  const begun = performance.now();
  for (const line of ['A\\', 'ADD \\', 'ONBUILD \\', 'ENV A\\', 'ADD\\\n#', 'ADD $A$A$A']) {
    outcome(`${line}\n`.repeat(20_000));
  }
  outcome(`ADD ${'$A'.repeat(50_000)} x`);
  outcome(`ADD ${' '.repeat(100_000)}x`);
  expect(performance.now() - begun).toBeLessThan(2000);
});
