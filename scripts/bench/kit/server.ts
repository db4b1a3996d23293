import { Berth } from '#test/support/berth.ts';
import { docker } from '#test/support/docker.ts';
import type { Scope } from './scope.ts';
import { untilAnswer } from './until.ts';

/** Everything at its default but the limits that a benchmark is meant to go beyond. */
const FLAGS = ['--quota-services', '100', '--rate-limit-per-minute', '0', '--prepare-datastores'];

/** Boots a server. Base images get into its registry with the first deploy on top of each. */
export const bootServer = async (scope: Scope): Promise<Berth> => {
  const berth = await Berth.boot(FLAGS);
  scope.defer(async () => {
    await berth.destroy();
    await removeTags(berth);
  });
  return berth;
};

/** The names that pushes gave to images; removing them leaves the images of others alone. */
const removeTags = async (berth: Berth): Promise<void> => {
  const filter = `reference=127.0.0.1:${berth.ports.registry}/*/*`;
  const listed = await docker(['images', '--filter', filter, '--format', '{{.Repository}}:{{.Tag}}']);
  const names = listed.split('\n').filter((name) => name !== '' && !name.endsWith(':<none>'));
  if (names.length > 0) await docker(['rmi', ...names]);
};

/** Containers of a service that run, drained ones included. */
export const replicaIds = async (berth: Berth, project: string, service: string): Promise<string[]> => {
  const labels = [
    `dev.berth.instance=${berth.instance()}`,
    `dev.berth.project=${project}`,
    `dev.berth.service=${service}`,
  ];
  const out = await docker(['ps', '-aq', '--no-trunc', ...labels.flatMap((label) => ['--filter', `label=${label}`])]);
  return out.split('\n').filter((id) => id !== '');
};

/** Waits until old replicas are gone, so that their end costs the next run nothing. */
export const untilSettled = async (berth: Berth, project: string, service: string): Promise<void> => {
  while ((await replicaIds(berth, project, service)).length > 1) await Bun.sleep(100);
};

interface Awaited {
  project: string;
  service: string;
  /** Of the operation that makes the wanted answer come. */
  streamUrl: string;
  isWanted?: (text: string) => boolean;
}

/**
 * Milliseconds from `begun` to the first wanted answer. Like the baseline, which asks once `docker run` has returned, it
 * asks from the moment the new container has started: earlier answers of the old one would only use up CPU.
 */
export const firstAnswer = async (berth: Berth, begun: number, wanted: Awaited): Promise<number> => {
  await untilStarted(berth, wanted.streamUrl);
  return untilAnswer(begun, (init) => berth.app(wanted.project, wanted.service, '/', init), wanted.isWanted);
};

const untilStarted = async (berth: Berth, streamUrl: string): Promise<void> => {
  const response = await fetch(new URL(streamUrl, berth.url), { headers: { authorization: `Bearer ${berth.token}` } });
  if (response.body === null) throw new Error('the operation has no stream');
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of response.body) {
    text += decoder.decode(chunk, { stream: true });
    if (text.includes(': started at ')) return;
  }
};

export const succeed = async (berth: Berth, operationId: string): Promise<void> => {
  const operation = await berth.wait(operationId);
  if (operation.status !== 'succeeded') throw new Error(`an operation failed: ${JSON.stringify(operation.error)}`);
};

/** Milliseconds that an operation spent in each phase, by its own events. */
export const phaseTimes = async (berth: Berth, operationId: string): Promise<Map<string, number>> => {
  const { body: operation } = await berth.api(`/v1/operations/${operationId}`);
  const { body: stream } = await berth.api(operation.stream_url);
  const events = [...String(stream).matchAll(/^event: phase\ndata: (?<data>.*)$/gm)].map(
    (match) => JSON.parse(match.groups?.['data'] ?? '') as { ts: string; phase: string },
  );
  const begun = [{ ts: operation.created_at as string, phase: 'queued' }, ...events];
  const times = new Map<string, number>();
  for (const [index, event] of begun.entries()) {
    const next = begun[index + 1];
    if (next !== undefined) times.set(event.phase, Date.parse(next.ts) - Date.parse(event.ts));
  }
  return times;
};

export const phaseNote = (runs: readonly Map<string, number>[], middle: (values: number[]) => number): string => {
  const phases = [...new Set(runs.flatMap((run) => [...run.keys()]))];
  const parts = phases.map((phase) => `${phase} ${Math.round(middle(runs.map((run) => run.get(phase) ?? 0)))}`);
  return `berth's phases in ms: ${parts.join(', ')}`;
};
