import type { Clock } from '#kernel/clock';
import type { ProjectTree } from '#modules/projects';
import { frameOf, rawFrame, type ProjectSummary } from './model.ts';

export interface StatesDeps {
  clock: Clock;
  /** Names of all projects. */
  names: () => string[];
  /** A project's state as JSON text; undefined for a missing one. Cheap while nothing has changed. */
  read: (project: string) => string | undefined;
  /** Grows with every change of what `read` says, and of other things. */
  version: () => number;
}

/** Somebody who looks at projects: at all of them from afar, or at one. */
export interface Watcher {
  form: 'summary' | 'tree';
  wants: (project: string) => boolean;
  send: (frame: Uint8Array) => void;
}

/** The states of projects, read and encoded once for all who look. */
export interface States {
  /** Sends what there is, then each change. */
  watch(watcher: Watcher): () => void;
  /** Something happened in a project. */
  touch(project: string): void;
}

/** Changes that come together are told together. */
const GATHER_MS = 30;
const POLL_MS = 250;
/** A look at everything, because something changed that nobody named: lines of a build do all the time. */
const SWEEP_MS = 2000;

interface Known {
  text: string;
  summary: string;
  frames: Partial<Record<Watcher['form'], Uint8Array>>;
}

export const createStates = ({ clock, names, read, version }: StatesDeps): States => {
  const watchers = new Set<Watcher>();
  const known = new Map<string, Known>();
  const touched = new Set<string>();
  let gathering: ReturnType<typeof setTimeout> | undefined;
  let polling: ReturnType<typeof setInterval> | undefined;
  let swept = { version: -1, at: -SWEEP_MS };

  const tell = (project: string, form: Watcher['form'], frame: () => Uint8Array): void => {
    for (const watcher of watchers) if (watcher.form === form && watcher.wants(project)) watcher.send(frame());
  };
  const tellGone = (project: string): void => {
    if (!known.delete(project)) return;
    tell(project, 'summary', () => frameOf('gone', 'projects', null, { name: project }));
    tell(project, 'tree', () => frameOf('gone', `project:${project}`, null, { name: project }));
  };
  const refresh = (project: string): Known | undefined => {
    const text = read(project);
    const before = known.get(project);
    if (text === undefined) {
      tellGone(project);
      return undefined;
    }
    if (before?.text === text) return before;
    const summary = JSON.stringify(summaryOf(JSON.parse(text) as ProjectTree));
    const now: Known = { text, summary, frames: {} };
    known.set(project, now);
    if (before?.summary !== summary) tell(project, 'summary', () => frame(project, now, 'summary'));
    tell(project, 'tree', () => frame(project, now, 'tree'));
    return now;
  };
  const isWanted = (project: string): boolean => {
    for (const watcher of watchers) if (watcher.wants(project)) return true;
    return false;
  };
  const sweep = (): void => {
    swept = { version: version(), at: clock.monotonic() };
    const all = names();
    for (const project of known.keys()) if (!all.includes(project)) tellGone(project);
    for (const project of all) if (isWanted(project)) refresh(project);
  };
  const poll = (): void => {
    if (version() !== swept.version && clock.monotonic() - swept.at >= SWEEP_MS) sweep();
  };
  const gather = (): void => {
    gathering = undefined;
    for (const project of touched) if (isWanted(project)) refresh(project);
    touched.clear();
  };

  return {
    touch: (project) => {
      if (watchers.size === 0) return;
      touched.add(project);
      gathering ??= setTimeout(gather, GATHER_MS);
    },
    watch: (watcher) => {
      // What others have not been told yet they are told now; then all that is known is sent to this one.
      for (const project of names()) {
        if (!watcher.wants(project)) continue;
        const state = refresh(project);
        if (state !== undefined) watcher.send(frame(project, state, watcher.form));
      }
      watchers.add(watcher);
      polling ??= setInterval(poll, POLL_MS);
      return () => {
        watchers.delete(watcher);
        if (watchers.size > 0) return;
        clearInterval(polling);
        clearTimeout(gathering);
        polling = undefined;
        gathering = undefined;
        touched.clear();
        known.clear();
      };
    },
  };
};

const frame = (project: string, state: Known, form: Watcher['form']): Uint8Array => {
  const made = state.frames[form] ?? encode(project, state, form);
  state.frames[form] = made;
  return made;
};

const encode = (project: string, { text, summary }: Known, form: Watcher['form']): Uint8Array =>
  form === 'summary'
    ? rawFrame('project', 'projects', null, `"project":${summary}}`)
    : rawFrame('state', `project:${project}`, null, `"state":${text}}`);

/** Of who may look, or has looked: nothing has become of what runs. */
const ABOUT_READERS = /^(?:token|session|query|tunnel)\./;

const summaryOf = (tree: ProjectTree): ProjectSummary => ({
  name: tree.name,
  state: tree.state,
  created_at: tree.created_at,
  services: tree.services.map(
    ({ name, status, service_url, replicas, running_replicas, live_release, updated_at }) => ({
      name,
      status,
      service_url,
      replicas,
      running_replicas,
      live_release,
      updated_at,
    }),
  ),
  datastores: tree.datastores.map(({ name, kind, status }) => ({ name, kind, status })),
  last_event: tree.recent_events.findLast(({ kind }) => !ABOUT_READERS.test(kind)) ?? null,
});
