import { asText, type NumberedLine } from './lines.ts';

/** Saves lines as a text file, without colours. */
export const downloadLines = (
  of: { project: string; service: string },
  lines: readonly (NumberedLine | undefined)[],
): void => {
  const text = lines.map((line) => (line === undefined ? '' : `${asText(line)}\n`));
  const url = URL.createObjectURL(new Blob(text, { type: 'text/plain;charset=utf-8' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = `${of.project}-${of.service}.log`;
  link.click();
  // Only after the browser has taken it.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
};
