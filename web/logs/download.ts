import { at, withQuery } from '../api.ts';
import { asText, type NumberedLine } from './lines.ts';

/** Saves lines as a text file, without colours. */
export const downloadLines = (
  of: { project: string; service: string },
  lines: readonly (NumberedLine | undefined)[],
): void => {
  const text = lines.map((line) => (line === undefined ? '' : `${asText(line)}\n`));
  const url = URL.createObjectURL(new Blob(text, { type: 'text/plain;charset=utf-8' }));
  save(url, `${of.project}-${of.service}.log`);
  // Only after the browser has taken it.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
};

/** Lets the browser fetch what the server has stored, as far as it fits: it need not pass through the page. */
export const wholeLog = (
  { project, service }: { project: string; service: string },
  { text, replica, release, since }: { text: string; replica: string; release: string; since: string },
): void =>
  save(
    withQuery(at('projects', project, 'services', service, 'logs', 'download'), { text, replica, release, since }),
    `${project}-${service}.log`,
  );

const save = (url: string, name: string): void => {
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
};
