import type { Dir } from '../../source-tree.ts';
import { type Xml, elementsOf as childrenOf, readXml } from '../support/xml.ts';

/** An element of an MSBuild file: these are flat enough to be read without a tree. */
export interface Element {
  name: string;
  attributes: Readonly<Record<string, string | undefined>>;
  /** Empty where the element holds others. */
  text: string;
}

/** The elements of a project or props file, in order; none when it does not exist. */
export const elementsOf = (dir: Dir, path: string): Element[] => {
  const root = readXml(dir, path);
  return root === undefined ? [] : flat(root);
};

const flat = (element: Xml): Element[] => {
  const children = childrenOf(element);
  const text = children.length === 0 ? element.text.trim() : '';
  return [{ name: element.name, attributes: element.attributes, text }, ...children.flatMap(flat)];
};
