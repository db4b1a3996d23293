import type { Api } from '../client/api.ts';
import { readPages } from '../client/pages.ts';
import { localError } from '../failure.ts';

const LOOK_MS = 500;

/** Has a backup made and verified of every datastore, so that the archive holds the data of now. Returns how many. */
export const makeFreshBackups = async (api: Api, note: (text: string) => void): Promise<number> => {
  const waiting: { what: string; operation: string }[] = [];
  const { projects } = await readPages({ all: true }, ['projects'], api.listProjects);
  for (const { name: of } of projects) {
    const { datastores } = await readPages({ all: true }, ['datastores'], (page) => api.listDatastores(of, page));
    for (const { name, status } of datastores) {
      if (status !== 'ready') continue;
      waiting.push({ what: `${of}/${name}`, operation: (await api.createBackup(of, name)).operation_id });
    }
  }
  for (const { what, operation } of waiting) {
    note(`backing up ${what}`);
    await untilDone(api, what, operation);
  }
  return waiting.length;
};

const untilDone = async (api: Api, what: string, operation: string): Promise<void> => {
  for (;;) {
    const { status, error } = await api.getOperation(operation);
    if (status === 'succeeded') return;
    if (status === 'failed')
      throw localError(
        `the backup of ${what} failed: ${error?.message ?? 'no reason given'}`,
        `${error?.hint ?? 'see: berth events'}; without --fresh the newest backup that is there is taken`,
      );
    await Bun.sleep(LOOK_MS);
  }
};
