import type { Step } from '../../plan.ts';

/** Where the build stage gathers the libraries of a program. */
const LIBRARIES = '/out/lib';

/** What every Debian image has itself: the C library must come from there, or names and users could not be looked up. */
const SYSTEM = 'ld-linux.*|lib(c|m|mvec|dl|pthread|rt|resolv|util|anl|nsl|gcc_s|stdc[+][+])[.]so.*';

/**
 * Shell commands that gather the libraries which programs were linked with, so that the slim image needs no list of
 * packages. `programs` is shell text: one path, or a command substitution.
 */
export const gatherLibraries = (programs: string): string[] => [
  `mkdir -p ${LIBRARIES}`,
  `ldd ${programs} 2>/dev/null | awk '$2 == "=>" && $3 ~ "^/" && $1 !~ "^(${SYSTEM})$" { print $3 }' | sort -u | xargs -r cp -Lt ${LIBRARIES}`,
];

/** The programs and libraries below a folder, as shell text. */
export const programsIn = (folder: string): string => `$(find ${folder} -type f '(' -perm -u+x -o -name '*.so*' ')')`;

/** Brings the gathered libraries to the runtime image. */
export const libraryCopies = (): Step[] => [
  { kind: 'copy', from: 'build', sources: [`${LIBRARIES}/`], target: '/usr/local/lib/' },
  { kind: 'run', command: 'ldconfig' },
];
