import { invalidInput } from '#kernel/errors';
import { type PlanContext, noStartCommand } from '../provider.ts';
import type { DotnetProject } from './projects.ts';

/** The project to publish: the one at the app's folder, the only one that can run, or the one named like the service. */
export const chooseProject = (
  context: PlanContext,
  projects: readonly DotnetProject[],
  inside: string,
): DotnetProject => {
  const { notes, serviceName } = context;
  const below = projects.filter(({ path }) => inside === '' || path.startsWith(`${inside}/`));
  const candidates = runnable(below);
  const named = (project: DotnetProject): boolean =>
    [project.name, project.name.replace(/^.*\./, ''), project.path.split('/').at(-2) ?? ''].some(
      (name) => name.toLowerCase() === serviceName.toLowerCase(),
    );
  const reasons: [DotnetProject[], string][] = [
    [candidates, `the only ${candidates[0]?.kind === 'program' ? 'program' : 'web project'}`],
    [candidates.filter(named), 'it has the name of the service'],
    [
      candidates.filter(({ path }) => path.replace(/[^/]*$/, '') === (inside === '' ? '' : `${inside}/`)),
      'it lies at the root of the app',
    ],
  ];
  for (const [found, reason] of reasons) {
    const [only] = found;
    if (only === undefined || found.length > 1) continue;
    notes.decisions.push(`project ${only.path}: ${reason}`);
    return only;
  }
  if (candidates.length === 0)
    throw noStartCommand(
      'a .NET solution',
      'a web project, Blazor WebAssembly, a worker, and OutputType Exe',
      'add a project that can run',
    );
  const list = candidates
    .slice(0, 20)
    .map(({ path }) => path)
    .join(', ');
  throw invalidInput(
    `this solution has several projects that can run: ${list}`,
    'name the service after one of them, or set root in the [build] table of berth.toml to the folder of one',
  );
};

/** Web projects before pages for the browser (which a web project may host), and those before other programs. */
const runnable = (projects: readonly DotnetProject[]): DotnetProject[] => {
  for (const kind of ['web', 'wasm', 'program'] as const) {
    const found = projects.filter((project) => project.kind === kind);
    if (found.length > 0) return found;
  }
  return [];
};
