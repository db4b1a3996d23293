import { invalidInput } from '#kernel/errors';
import type { Dir } from '../../source-tree.ts';

/** Files that say where packages come from, and with which credentials. */
const SETTINGS = ['.npmrc', '.yarnrc', '.yarnrc.yml', 'bunfig.toml'];

/** Set in every image, whatever the project says. */
const GIVEN = new Set(['CI', 'HOME', 'PATH', 'PWD', 'USER', 'NODE_VERSION', 'TMPDIR']);

/** Names of variables that the settings of a private registry refer to, as far as the project has them. */
export const registryVariables = (root: Dir, projectEnv: Record<string, string>): string[] => {
  const settings = SETTINGS.map((name) => root.read(name) ?? '').join('\n');
  const named = [...settings.matchAll(/\$\{?([A-Za-z_]\w*)/g)].map(([, name = '']) => name);
  const usual = Object.keys(projectEnv).filter((name) =>
    /^(npm_config_\w+|NPM_CONFIG_\w+|NPM_TOKEN|NODE_AUTH_TOKEN|YARN_NPM_\w+)$/.test(name),
  );
  return [...new Set([...named, ...usual])]
    .filter((name) => Object.hasOwn(projectEnv, name) && !/production|omit|only/i.test(name))
    .sort();
};

/** Without a variable that its settings name, an install fails late, and with an answer that names something else. */
export const requireRegistryVariables = (root: Dir, projectEnv: Record<string, string>): void => {
  for (const file of SETTINGS) {
    for (const [index, line] of (root.read(file) ?? '').split('\n').entries()) {
      const name = missingVariable(line, projectEnv);
      if (name === undefined) continue;
      const path = root.path === '' ? file : `${root.path}/${file}`;
      throw invalidInput(
        `${path}:${index + 1} needs the variable ${name} to install packages, and the project has none of that name`,
        `berth env set ${name}=…, then deploy again; or remove the line, where no private package is installed`,
      );
    }
  }
};

/** `${NAME}`, and `$NAME` as bun writes it; not `${NAME-default}`, nor npm's optional `${NAME?}`. */
const missingVariable = (line: string, projectEnv: Record<string, string>): string | undefined => {
  if (/^\s*[#;]/.test(line)) return undefined;
  const names = [...line.matchAll(/\$\{([A-Za-z_]\w*)\}|"\$([A-Za-z_]\w*)"/g)].map(
    ([, braced, bare]) => braced ?? bare ?? '',
  );
  return names.find((name) => !Object.hasOwn(projectEnv, name) && !GIVEN.has(name));
};
