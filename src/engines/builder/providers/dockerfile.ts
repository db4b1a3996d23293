import { invalidInput } from '#kernel/errors';
import { frontendOf } from '../dockerfile-check.ts';
import { refuseRemoteAdds } from '../dockerfile-remote.ts';
import { APP_PORT, type OwnDockerfile, type Plan } from '../plan.ts';
import { type PlanContext, type Provider, emptyPlan } from './provider.ts';

/** A Dockerfile of the user's own: it wins, and is built as it stands. */
export const dockerfile: Provider = {
  name: 'dockerfile',
  markers: ['Dockerfile'],
  doc: {
    title: 'Dockerfile',
    detects: '`Dockerfile` at the root of the app',
    notes: 'wins over everything else; each `ARG` it declares gets the value of the project variable of that name',
  },
  detect: (app) => (app.has('Dockerfile') ? 'strong' : null),
  plan: planDockerfile,
};

function planDockerfile(context: PlanContext): Plan {
  const plan = emptyPlan(context, 'dockerfile');
  const text = context.app.read('Dockerfile') ?? '';
  const own = readDockerfile(text);
  refuseRemoteAdds(text, context.projectEnv);
  const { decisions, warnings } = plan;
  decisions.push('Dockerfile: it is at the root of the app, so it is built as it stands');
  if (own.declaredArgs.length > 0) decisions.push(`build arguments it declares: ${own.declaredArgs.join(', ')}`);
  const port = own.exposedPorts[0];
  if (port !== undefined && !own.exposedPorts.includes(APP_PORT)) {
    warnings.push(
      `the Dockerfile exposes ${port}: the app must listen on PORT, which is ${APP_PORT} unless the project sets PORT=${port}`,
    );
  }
  for (const key of ['start', 'build', 'install', 'version', 'output', 'apt', 'build_apt', 'run_apt'] as const) {
    if (context.overrides[key] !== undefined) warnings.push(`[build] ${key} has no effect: the Dockerfile decides`);
  }
  return { ...plan, dockerfile: own, installEnv: [] };
}

/** What matters of a Dockerfile before it is built. Comments, continued lines and heredocs are read as Docker does. */
export const readDockerfile = (text: string): OwnDockerfile => {
  const lines = instructions(text);
  if (!lines.some((line) => /^FROM\s+\S/i.test(line))) {
    throw invalidInput('the Dockerfile has no FROM instruction', 'start it with FROM <image>');
  }
  const declared = lines.flatMap((line) => (/^ARG\s/i.test(line) ? argNames(line.slice(4)) : []));
  const ports = lines.flatMap((line) =>
    /^EXPOSE\s/i.test(line) ? [...line.slice(7).matchAll(/(?:^|\s)(\d{1,5})\b/g)] : [],
  );
  return {
    path: 'Dockerfile',
    // Docker gives these to the build itself: they choose frontends and caches.
    declaredArgs: [...new Set(declared)]
      .filter((name) => !name.startsWith('BUILDKIT_') && !name.startsWith('DOCKER_'))
      .sort(),
    exposedPorts: [...new Set(ports.map(([, port]) => Number(port)))],
    syntax: frontendOf(text)?.image ?? null,
  };
};

const argNames = (rest: string): string[] =>
  [...rest.matchAll(/(?:^|\s)([A-Za-z_]\w*)(?:=(?:"(?:\\.|[^"])*"|'[^']*'|\S)*)?(?=\s|$)/g)].map(
    ([, name = '']) => name,
  );

const instructions = (text: string): string[] => {
  const escape = /^\s*#\s*escape\s*=\s*`/im.test(text.split(/\n(?!\s*#)/)[0] ?? '') ? '`' : '\\';
  const found: string[] = [];
  let current = '';
  let heredoc: string | undefined;
  for (const line of text.split(/\r?\n/)) {
    if (heredoc !== undefined) {
      if (line.trim() === heredoc) heredoc = undefined;
      continue;
    }
    if (/^\s*#/.test(line) || (current !== '' && line.trim() === '')) continue;
    const trimmed = line.trim();
    if (trimmed.endsWith(escape)) {
      current += `${trimmed.slice(0, -1)} `;
      continue;
    }
    current += trimmed;
    if (current !== '') found.push(current);
    heredoc = /^(?:RUN|COPY|ADD)\b.*?<<-?\s*["']?(\w+)/i.exec(current)?.[1];
    current = '';
  }
  return current === '' ? found : [...found, current];
};
