import { ApiError } from '../api.ts';
import { unusable } from './source.ts';

/** Says of an archive that it can't be read, with what the reader of its format says. */
const saying = (archive: string, thrown: unknown): ApiError => {
  if (thrown instanceof ApiError) return thrown;
  const why = thrown instanceof Error && thrown.message !== '' ? `: ${thrown.message}` : '';
  return unusable(
    `${archive} cannot be read as what its name says${why}`,
    'it may be damaged or incomplete: pack it again, or drop the folder itself',
  );
};

export const damaged = {
  saying,
  unless: async <T>(archive: string, read: () => Promise<T>): Promise<T> => {
    try {
      return await read();
    } catch (thrown) {
      throw saying(archive, thrown);
    }
  },
};
