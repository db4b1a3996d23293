import type { Config } from '#kernel/config';
import type { Probes } from './probes.ts';

export type CheckStatus = 'ok' | 'warn' | 'fail' | 'skip';

export interface CheckResult {
  id: string;
  title: string;
  status: CheckStatus;
  detail: string;
  /** What to do about it; null when nothing is to be done. */
  next: string | null;
}

/** What a check says; `ok` and `skip` need no next step. */
export type Verdict =
  | { status: 'ok' | 'skip'; detail: string }
  | { status: 'warn' | 'fail'; detail: string; next: string };

/** What is to be examined: the machine of a server, a server from afar, or both. */
export interface Subject {
  /** Settings of the server on this machine; undefined when only a remote one is examined. */
  config: Config | undefined;
  endpoint: string | undefined;
  token: string | undefined;
  version: string;
}

export interface Check {
  id: string;
  title: string;
  /** Returns undefined when the check does not apply to the subject. */
  run: (probes: Probes, subject: Subject) => Promise<Verdict | undefined>;
}

export const ok = (detail: string): Verdict => ({ status: 'ok', detail });
export const skip = (detail: string): Verdict => ({ status: 'skip', detail });
export const warn = (detail: string, next: string): Verdict => ({ status: 'warn', detail, next });
export const fail = (detail: string, next: string): Verdict => ({ status: 'fail', detail, next });

/** A check of the server's own machine. */
export const onServer =
  (run: (probes: Probes, config: Config, subject: Subject) => Promise<Verdict>): Check['run'] =>
  async (probes, subject) =>
    subject.config === undefined ? undefined : run(probes, subject.config, subject);

/** A check that talks to the API. */
export const overApi =
  (run: (probes: Probes, endpoint: string, subject: Subject) => Promise<Verdict>): Check['run'] =>
  async (probes, subject) =>
    subject.endpoint === undefined ? undefined : run(probes, subject.endpoint, subject);

/** Runs checks one after the other; one that throws has failed, and the others still run. */
export const runChecks = async (checks: readonly Check[], probes: Probes, subject: Subject): Promise<CheckResult[]> => {
  const results: CheckResult[] = [];
  for (const { id, title, run } of checks) {
    const verdict = await run(probes, subject).catch((thrown: unknown) =>
      fail(
        `could not be checked: ${thrown instanceof Error ? thrown.message : String(thrown)}`,
        'look into the message; run it as root if permissions are missing',
      ),
    );
    if (verdict === undefined) continue;
    results.push({
      id,
      title,
      status: verdict.status,
      detail: verdict.detail,
      next: 'next' in verdict ? verdict.next : null,
    });
  }
  return results;
};
