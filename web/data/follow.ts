import { skipToken, useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import type { LiveEvent, ProjectSummary } from '#modules/live';
import { newest, useLive } from '../live.ts';
import { keepTold, queries } from './client.ts';

/** Keeps what is read of a project as new as the server tells it. */
export const useProjectLive = (project: string): void => {
  useLive(`project:${project}`, (events) => {
    // Somebody deleted it: that is for the page to say, by the answer to a read.
    if (newest(events, 'gone') !== undefined) void queries.resetQueries({ queryKey: ['project', project] });
    const state = newest(events, 'state')?.state;
    if (state === undefined) return;
    keepTold(['project', project], state);
    void queries.invalidateQueries({ queryKey: ['service', project] });
    void queries.invalidateQueries({ queryKey: ['releases', project] });
    void queries.invalidateQueries({ queryKey: ['datastores', project] });
    void queries.invalidateQueries({ queryKey: ['env', project] });
    void queries.invalidateQueries({ queryKey: ['operations'] });
  });
};

const SUMMARIES = ['summaries'];

/** What has come of a beginning: a part of the projects must not look like all of them. */
let arriving: readonly LiveEvent[] | undefined = [];

/** Keeps a summary of every project; the shell does it for all pages. */
export const useProjectsLive = (enabled: boolean): void => {
  useLive(enabled ? 'projects' : undefined, takeProjects, () => {
    arriving = [];
  });
  useEffect(() => {
    if (!enabled) void queries.resetQueries({ queryKey: SUMMARIES });
  }, [enabled]);
};

const takeProjects = (events: readonly LiveEvent[]): void => {
  if (arriving !== undefined) {
    arriving = [...arriving, ...events];
    if (newest(arriving, 'ready') === undefined) return;
    queries.setQueryData(SUMMARIES, withEvents([], arriving));
    arriving = undefined;
  } else queries.setQueryData<ProjectSummary[]>(SUMMARIES, (before = []) => withEvents(before, events));
};

/** The projects after these events, in the order of their names. */
export const withEvents = (projects: readonly ProjectSummary[], events: readonly LiveEvent[]): ProjectSummary[] => {
  const byName = new Map(projects.map((project) => [project.name, project]));
  for (const event of events) {
    if (event.kind === 'project') byName.set(event.project.name, event.project);
    if (event.kind === 'gone') byName.delete(event.name);
  }
  return [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
};

/** Every project with the state of its services; undefined until the server has told them all. */
export const useSummaries = (): ProjectSummary[] | undefined =>
  useQuery<ProjectSummary[]>({ queryKey: SUMMARIES, queryFn: skipToken }).data;
