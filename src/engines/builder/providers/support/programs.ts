import { BINARY } from './compiled.ts';

/** The programs that command lines name, as they stand at the beginning of each command. */
const programWords = (commands: readonly (readonly string[])[]): string[] =>
  commands.flatMap((argv) => {
    const text = argv[0] === '/bin/sh' && argv[1] === '-c' ? (argv[2] ?? '') : (argv[0] ?? '');
    return text.split(/&&|\|\|?|;|\n/).map(
      (command) =>
        command
          .trim()
          .replace(/^(?:exec\s+|env\s+|\w+=\S*\s+)+/, '')
          .split(/\s+/)[0] ?? '',
    );
  });

/**
 * Where the image must have each of the programs that commands name: a Procfile says `bin/shop` or
 * `./target/release/shop`, berth's own name for the one that is started is `BINARY`.
 */
export const placesOf = (
  commands: readonly (readonly string[])[],
  names: readonly string[],
): { name: string; place: string }[] => {
  const places = new Map<string, string>();
  for (const word of programWords(commands)) {
    const { folder = '', name = '' } =
      /^(?<folder>(?:\.\/|\/app\/)?(?:bin\/|target\/release\/)?)(?<name>[\w.-]+)$/.exec(word)?.groups ?? {};
    if (!names.includes(name) || places.has(name)) continue;
    places.set(
      name,
      folder === '' ? `/usr/local/bin/${name}` : `/app/${folder.replace(/^(?:\.\/|\/app\/)/, '')}${name}`,
    );
  }
  return [...places].map(([name, place]) => ({ name, place }));
};

/** The place of the program that is started, and of the others that commands name. */
export interface BuiltProgram {
  /** Its name below /out in the build stage. */
  output: string;
  place: string;
}

export const builtPrograms = (main: string, named: readonly { name: string; place: string }[]): BuiltProgram[] => [
  { output: 'app', place: named.find(({ name }) => name === main)?.place ?? BINARY },
  ...named.filter(({ name }) => name !== main).map(({ name, place }) => ({ output: name, place })),
];
