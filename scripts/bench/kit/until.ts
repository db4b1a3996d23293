const EVERY_MS = 10;
const ATTEMPT_MS = 2000;
const LIMIT_MS = 120_000;

/** Asks every 10 ms until an answer is 200 and its text is the wanted one; the milliseconds since `begun`. */
export const untilAnswer = async (
  begun: number,
  ask: (init: RequestInit) => Promise<Response>,
  isWanted: (text: string) => boolean = () => true,
): Promise<number> => {
  while (performance.now() - begun < LIMIT_MS) {
    const asked = performance.now();
    // A kept connection would reach the old replica for as long as it drains.
    const init = { keepalive: false, signal: AbortSignal.timeout(ATTEMPT_MS) };
    const text = await ask(init).then(
      async (response) => (response.status === 200 ? await response.text() : undefined),
      () => undefined,
    );
    if (text !== undefined && isWanted(text)) return performance.now() - begun;
    await Bun.sleep(Math.max(0, EVERY_MS - (performance.now() - asked)));
  }
  throw new Error('the wanted answer did not come within two minutes');
};
