import type { ProgressMessage } from '#engines/docker/calls';
import type { Clock } from '#kernel/clock';

const PROGRESS_EVERY_MS = 5000;

/** Turns the ticks of a push into a few lines: one when a layer is done, and one now and then about a slow one. */
export const createPushProgress = (
  clock: Clock,
  onLog: (line: string) => void,
): ((message: ProgressMessage) => void) => {
  const sizes = new Map<string, number>();
  let last = clock.monotonic();

  const done = (id: string, how: string): void => {
    last = clock.monotonic();
    onLog(`layer ${id} ${how}`);
  };

  return ({ id, status, progressDetail }) => {
    if (id === undefined || status === undefined) return;
    if (status === 'Pushed') done(id, `pushed${sizeText(sizes.get(id))}`);
    else if (status.startsWith('Mounted from')) done(id, 'shared with another image');
    else if (status === 'Pushing' && progressDetail?.current !== undefined) {
      const { current, total } = progressDetail;
      sizes.set(id, Math.max(total ?? 0, current));
      if (clock.monotonic() - last < PROGRESS_EVERY_MS) return;
      done(id, `${megabytes(current)} of ${megabytes(Math.max(total ?? 0, current))} pushed`);
    }
  };
};

const sizeText = (bytes: number | undefined): string => (bytes === undefined ? '' : `, ${megabytes(bytes)} unpacked`);

const megabytes = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(1)} MB`;
