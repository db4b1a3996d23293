const LONGEST = 30;

/** The nearest allowed name: `My App (2)` becomes `my-app-2`. */
export const nameFrom = (text: string, otherwise: string): string => {
  const name = text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^[^a-z]+/, '')
    .slice(0, LONGEST)
    .replace(/-+$/, '');
  return name === '' ? otherwise : name;
};

const NAME = /^(?!.*--)[a-z](?:[a-z0-9-]{0,28}[a-z0-9])?$/;

/** What is wrong with a name; undefined when nothing is. */
export const nameFault = (text: string): string | undefined =>
  NAME.test(text) ? undefined : 'a to z, digits and single dashes; begins with a letter, at most 30 characters';
