import { invalidInput } from '#kernel/errors';
import { refuseEscapes } from './buildkit-escapes.ts';

/**
 * A `# syntax=` line makes Docker run another image as the builder. Only Docker's own is let through, and even that line
 * is taken out where the engine's own frontend reads the file as well: it would only cost a download.
 */
export const refuseForeignSyntax = (text: string): string => {
  refuseEscapes(text);
  const found = frontendOf(text);
  if (found === null || found.line < 0 || NEWER.test(text)) return text;
  const lines = text.split('\n');
  const next = lines[found.line + 1] ?? '';
  // A comment in its place keeps line numbers, but would end the directives (`# escape=`) that may follow.
  lines.splice(found.line, 1, ...(DIRECTIVE.test(next) ? [] : ['#']));
  return lines.join('\n');
};

/** What the frontend of Docker 20.10 does not know. */
const NEWER =
  /<<|^\s*(?:COPY|ADD)\s[^\n]*--(?:link|exclude|parents|checksum|keep-git-dir|unpack)\b|^\s*RUN\s[^\n]*--(?:network|security|device)\b|^\s*ADD\s[^\n]*\.git\b/im;

const DIRECTIVE = /^\s*(?:#|\/\/)\s*([A-Za-z]\w*)\s*=\s*(.+?)\s*$/;

/** The frontend that a Dockerfile asks for, and the line that does (-1 in its JSON form); an error for a stranger's. */
export const frontendOf = (text: string): { image: string; line: number } | null => {
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  const start = lines[0]?.startsWith('#!') ? 1 : 0;
  for (let index = start; index < lines.length; index += 1) {
    const directive = DIRECTIVE.exec(lines[index] ?? '');
    if (!directive) break;
    if (directive[1]?.toLowerCase() === 'syntax') return { image: official(directive[2] ?? ''), line: index };
  }
  const json = /^\s*\{[^]{0,2000}?"syntax"\s*:\s*"([^"]*)"/i.exec(lines.slice(start).join('\n'))?.[1];
  return json === undefined ? null : { image: official(json), line: -1 };
};

const official = (written: string): string => {
  const image = written.split(/\s/)[0] ?? '';
  if (/^(docker\.io\/)?docker\/dockerfile(:[\w.-]+)?(@sha256:[0-9a-f]{64})?$/.test(image)) return image;
  throw invalidInput(
    `the Dockerfile asks for the frontend ${JSON.stringify(image.slice(0, 120))}`,
    'remove the "# syntax=" line, or use docker/dockerfile:1',
  );
};
