import { XmlElement, XmlError, parseXml } from '@rgrove/parse-xml';
import type { Dir } from '../../source-tree.ts';
import { brokenManifest } from './fields.ts';

export type Xml = XmlElement;

/** The root element of an XML manifest. External entities are never read. */
export const readXml = (dir: Dir, path: string): Xml | undefined => {
  const text = dir.read(path);
  if (text === undefined) return undefined;
  try {
    const { root } = parseXml(text.trimStart(), { ignoreUndefinedEntities: true });
    if (root) return root;
  } catch (error) {
    if (!(error instanceof XmlError)) throw error;
    const skipped = text.length - text.trimStart().length;
    const line = error.line + text.slice(0, skipped).split('\n').length - 1;
    throw brokenManifest(path, String(line), error.message.split('\n')[0]?.replace(/ \(line .*$/, '') ?? '', error);
  }
  throw brokenManifest(path, '1', 'it has no root element');
};

const localName = (name: string): string => name.replace(/^.*:/, '');

/** The child elements, or those of one name; prefixes of namespaces do not count. */
export const elementsOf = (parent: Xml | undefined, name?: string): Xml[] =>
  (parent?.children ?? []).filter(
    (child): child is Xml =>
      child instanceof XmlElement && (name === undefined || localName(child.name) === localName(name)),
  );

/** The first element at a path of names. */
export const elementAt = (parent: Xml | undefined, ...names: string[]): Xml | undefined => {
  let current = parent;
  for (const name of names) current = elementsOf(current, name)[0];
  return current;
};

/** The trimmed text of the element at a path of names; undefined when there is none. */
export const xmlText = (parent: Xml | undefined, ...names: string[]): string | undefined => {
  const text = elementAt(parent, ...names)?.text.trim();
  return text === undefined || text === '' ? undefined : text;
};
