import type { Entry } from '../command.ts';
import type { Chapter } from '../help.ts';

type Load = () => Promise<Entry>;

/** Every command by name, loaded when it is used: starting the CLI costs one command, not all. */
const CHAPTERS: readonly { title: string; entries: Readonly<Record<string, Load>> }[] = [
  {
    title: 'Deploy',
    entries: {
      deploy: async () => (await import('./deploy.ts')).deploy,
      plan: async () => (await import('./plan.ts')).plan,
      init: async () => (await import('./init.ts')).init,
      status: async () => (await import('./status.ts')).status,
      logs: async () => (await import('./logs.ts')).logs,
      search: async () => (await import('./search.ts')).search,
      open: async () => (await import('./open.ts')).open,
    },
  },
  {
    title: 'Run',
    entries: {
      rollback: async () => (await import('./change.ts')).rollback,
      scale: async () => (await import('./scale.ts')).scale,
      restart: async () => (await import('./change.ts')).restart,
      env: async () => (await import('./env.ts')).env,
      db: async () => (await import('./db/index.ts')).db,
      repos: async () => (await import('./repos/index.ts')).repos,
      clone: async () => (await import('./repos/clone.ts')).clone,
      projects: async () => (await import('./projects.ts')).projects,
      services: async () => (await import('./services.ts')).services,
      releases: async () => (await import('./releases.ts')).releases,
      operations: async () => (await import('./operations.ts')).operations,
      usage: async () => (await import('./usage.ts')).usage,
      watch: async () => (await import('./watch.ts')).watch,
      events: async () => (await import('./events.ts')).events,
      audit: async () => (await import('./audit.ts')).audit,
      tokens: async () => (await import('./tokens.ts')).tokens,
      capacity: async () => (await import('./capacity.ts')).capacity,
      mcp: async () => (await import('./mcp.ts')).mcp,
    },
  },
  {
    title: 'Servers you use',
    entries: {
      login: async () => (await import('./login.ts')).login,
      logout: async () => (await import('./profiles.ts')).logout,
      use: async () => (await import('./profiles.ts')).use,
      whoami: async () => (await import('./profiles.ts')).whoami,
      sessions: async () => (await import('./sessions.ts')).sessions,
      health: async () => (await import('./api.ts')).health,
      checks: async () => (await import('./api.ts')).checks,
      metrics: async () => (await import('./api.ts')).metrics,
    },
  },
  {
    title: 'On the server',
    entries: {
      server: async () => (await import('./server.ts')).server,
      doctor: async () => (await import('./doctor.ts')).doctor,
      state: async () => (await import('./state.ts')).state,
    },
  },
  {
    title: 'The API itself',
    entries: {
      docs: async () => (await import('./api.ts')).docs,
      openapi: async () => (await import('./api.ts')).openapi,
      skill: async () => (await import('./api.ts')).skill,
    },
  },
  {
    title: 'The client itself',
    entries: {
      'git-credential': async () => (await import('./repos/clone.ts')).gitCredential,
      upgrade: async () => (await import('./upgrade.ts')).upgrade,
      completion: async () => (await import('./completion.ts')).completion,
      version: async () => (await import('./version.ts')).version,
      help: async () => (await import('./help.ts')).help,
    },
  },
];

export const COMMAND_NAMES: readonly string[] = CHAPTERS.flatMap((chapter) => Object.keys(chapter.entries));

export const loadCommand = async (name: string): Promise<Entry | undefined> => {
  for (const chapter of CHAPTERS) {
    const load = Object.hasOwn(chapter.entries, name) ? chapter.entries[name] : undefined;
    if (load !== undefined) return load();
  }
  return undefined;
};

/** All commands, for help, completion and the reference. */
export const loadChapters = (): Promise<Chapter[]> =>
  Promise.all(
    CHAPTERS.map(async ({ title, entries }) => ({
      title,
      entries: await Promise.all(Object.values(entries).map((load) => load())),
    })),
  );
