import { openSync } from 'node:fs';
import { putBack } from '#src/upgrade/executable.ts';
import { readRecord, type Trial } from '#src/upgrade/journal.ts';
import { localError } from '../failure.ts';
import { pidOf, type ServerProcess } from './process.ts';

const LET_IT_MS = 15_000;
const SUPERVISOR_MS = 4000;
const START_MS = 60_000;

/**
 * Makes the former executable run again, after the verdict was written down: by the new server itself when it can, by killing it when
 * it hangs, by whoever supervises it, or by starting it here. The former executable puts the state back when it starts.
 */
export const bringBack = async (
  dataDir: string,
  server: ServerProcess,
  trial: Trial,
  listen: string,
): Promise<void> => {
  await putBack(trial.executable, trial.previous, trial.from.sha256);
  const isBack = (): boolean => readRecord(dataDir, 'reverted') !== undefined;
  const gone = (): boolean => pidOf(dataDir) === undefined;
  await until(() => isBack() || gone(), LET_IT_MS);
  if (!isBack()) {
    const pid = pidOf(dataDir) ?? server.pid;
    kill(pid);
    // Its lock goes with it: another one is held by somebody who was started since.
    await until(() => isBack() || (pidOf(dataDir) ?? pid) !== pid, SUPERVISOR_MS);
    if (!isBack() && pidOf(dataDir) === undefined) startAgain(server);
  }
  const ready = await until(async () => isBack() && (await answers(listen)), START_MS);
  if (!ready)
    throw localError(
      'the new version was not well, and the former one does not answer',
      `${trial.executable} is the former executable again: start it (systemctl restart berth), and look at its log`,
    );
};

const startAgain = ({ unit, executable, argv, env, cwd, logFile }: ServerProcess): void => {
  if (unit !== undefined) {
    for (const verb of ['reset-failed', 'start'])
      Bun.spawnSync(['systemctl', verb, unit], { stdio: ['ignore', 'ignore', 'ignore'] });
    return;
  }
  const log = logFile === undefined ? 'ignore' : openSync(logFile, 'a');
  Bun.spawn([executable, ...argv], {
    cwd,
    env,
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: log,
    detached: true,
  }).unref();
};

const until = async (met: () => boolean | Promise<boolean>, ms: number): Promise<boolean> => {
  const deadline = performance.now() + ms;
  while (!(await met())) {
    if (performance.now() > deadline) return false;
    await Bun.sleep(50);
  }
  return true;
};

const kill = (pid: number): void => {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (thrown) {
    if (!(thrown instanceof Error && 'code' in thrown && thrown.code === 'ESRCH')) throw thrown;
  }
};

const answers = (listen: string): Promise<boolean> =>
  fetch(`http://${listen}/v1/health`, { signal: AbortSignal.timeout(3000) }).then(
    (response) => response.ok,
    () => false,
  );
