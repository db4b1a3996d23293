/** The other end of `startWorker`: reads the options, says that it is ready, waits for the end, reports. */
export const readOptions = (): unknown => JSON.parse(process.argv[2] ?? '{}');

export const ready = (): void => console.log('ready');

/** Resolves when the parent closes the pipe, or is gone. */
export const untilTold = async (): Promise<void> => {
  for await (const _ of Bun.stdin.stream()) continue;
};

/** For servers: ends with the parent, whatever that one died of. */
export const endWithParent = (): void => void untilTold().then(() => process.exit(0));

export const report = (result: unknown): never => {
  console.log(JSON.stringify(result));
  process.exit(0);
};
