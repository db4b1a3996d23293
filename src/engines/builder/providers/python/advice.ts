import { invalidInput } from '#kernel/errors';
import type { Dir } from '../../source-tree.ts';
import { fieldsAt, readToml } from '../support/fields.ts';
import { pythonTokens } from '../support/tokens.ts';
import type { Installer } from './installers.ts';
import { REQUIREMENT_FILES, type Requirements } from './requirements.ts';
import type { Has } from './servers.ts';

interface Facts {
  app: Dir;
  hasAny: Has;
  requirements: Requirements;
  installer: Installer;
}

/** What works, but is better done in another way. */
export const adviceOf = ({ app, hasAny, requirements, installer }: Facts): string[] => {
  const warnings: string[] = [];
  const others = ['uv.lock', 'poetry.lock', 'pdm.lock', 'Pipfile.lock'].filter((file) => app.has(file));
  if (installer.name === 'pip' && others.length > 0)
    warnings.push(
      `${others.join(', ')} is not used: ${app.firstOf(...REQUIREMENT_FILES)} comes first; remove the one that is old`,
    );
  if (hasAny('torch') && !namesTorchIndex(app, requirements))
    warnings.push(
      'torch comes with several gigabytes of GPU libraries unless its CPU builds are asked for: put "--extra-index-url https://download.pytorch.org/whl/cpu" into requirements.txt (or an index into pyproject.toml)',
    );
  return warnings;
};

const namesTorchIndex = (app: Dir, { lines }: Requirements): boolean => {
  const tools = fieldsAt(readToml(app, 'pyproject.toml'), 'tool');
  const named = [fieldsAt(tools, 'uv')['index'], fieldsAt(tools, 'poetry')['source'], fieldsAt(tools, 'pdm')['source']];
  return (
    lines.some(({ text }) => text.includes('download.pytorch.org') || /^torch\b.*\+cpu/.test(text)) ||
    JSON.stringify(named).includes('pytorch.org')
  );
};

const FRAMEWORKS = new Set([
  'fastapi',
  'flask',
  'django',
  'streamlit',
  'gradio',
  'starlette',
  'aiohttp',
  'tornado',
  'sanic',
  'quart',
  'litestar',
  'bottle',
  'dash',
]);

/** A script that imports a framework which nothing installs could only fail when it is started. */
export const refuseUnlisted = (app: Dir, argv: string[]): void => {
  const file = argv[1] ?? '';
  const manifests = [...REQUIREMENT_FILES, 'pyproject.toml', 'Pipfile', 'setup.py', 'setup.cfg'];
  if (app.firstOf(...manifests) !== undefined) return;
  const tokens = pythonTokens(app.read(file) ?? '');
  const imported = tokens.find(
    ({ text }, index) =>
      FRAMEWORKS.has(text) && tokens[index - 1]?.leftmost && /^(import|from)$/.test(tokens[index - 1]?.text ?? ''),
  )?.text;
  if (imported === undefined) return;
  throw invalidInput(
    `${file} imports ${imported}, and no manifest says what to install`,
    `add a requirements.txt with the line "${imported}" and one for each other package that it imports`,
  );
};
