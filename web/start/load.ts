import { ApiError } from '../api.ts';

/** Loads a part of the page that is only needed now; without a network it can't be had. */
export const load = async <T>(part: () => Promise<T>): Promise<T> => {
  try {
    return await part();
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message : String(thrown);
    throw new ApiError(
      {
        code: 'UNREACHABLE',
        message: `a part of this page could not be loaded: ${why}`,
        hint: 'check the network and try again; if the server was upgraded meanwhile, reload the page',
        retryable: true,
      },
      0,
    );
  }
};

/** What packs, loaded as soon as there is something to pack: when it is wanted, the network may be gone. */
export const loadPacker = () => load(() => import('./pack.ts'));
