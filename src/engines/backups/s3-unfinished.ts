import { parseXml, XmlElement } from '@rgrove/parse-xml';
import type { Clock } from '#kernel/clock';
import type { Calls } from './s3-calls.ts';
import { signedHeaders } from './s3-sign.ts';

interface UnfinishedOptions {
  endpoint: string;
  region: string;
  bucketName: string;
  virtualHosted?: boolean;
  accessKeyId: string;
  secretAccessKey: string;
  prefix: string;
  clock: Clock;
  calls: Calls;
}

interface UnfinishedUpload {
  key: string;
  id: string;
  /** Milliseconds since the epoch. */
  begun: number;
}

/**
 * Uploads that a crash has left: they are in no listing of objects, and paid for. Bun's client cannot list or abort them
 * (decisions/016).
 */
export const createUnfinished = (options: UnfinishedOptions) => {
  const call = async (method: 'GET' | 'DELETE', key: string, query: Record<string, string>): Promise<string> => {
    const url = new URL(options.endpoint);
    if (options.virtualHosted === true) url.hostname = `${options.bucketName}.${url.hostname}`;
    else url.pathname = `/${options.bucketName}`;
    url.pathname += `${url.pathname.endsWith('/') ? '' : '/'}${key}`;
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const response = await fetch(url, {
      method,
      headers: signedHeaders({ ...options, method, url, now: options.clock.now() }),
    });
    const body = await response.text();
    if (response.ok || (method === 'DELETE' && response.status === 404)) return body;
    throw Object.assign(new Error(`HTTP ${response.status}`), { code: /<Code>(\w+)<\/Code>/.exec(body)?.[1] ?? '' });
  };

  const list = async (): Promise<UnfinishedUpload[]> => {
    const found: UnfinishedUpload[] = [];
    let marker: Record<string, string> | undefined = {};
    while (marker !== undefined) {
      const query: Record<string, string> = { uploads: '', prefix: options.prefix, ...marker };
      const page = parsePage(await options.calls({ what: 'list unfinished uploads' }, () => call('GET', '', query)));
      found.push(...page.uploads);
      marker = page.next;
    }
    return found;
  };

  return {
    /** Aborts those that began longer ago than this below the prefix, and returns how many there were. */
    abortOlderThan: async (ms: number): Promise<number> => {
      const old = (await list()).filter(
        ({ key, begun }) => key.startsWith(options.prefix) && options.clock.now() - begun >= ms,
      );
      for (const { key, id } of old)
        await options.calls({ what: 'abort an unfinished upload' }, () => call('DELETE', key, { uploadId: id }));
      return old.length;
    },
  };
};

interface Page {
  uploads: UnfinishedUpload[];
  next: Record<string, string> | undefined;
}

export const parsePage = (xml: string): Page => {
  const { root } = parseXml(xml);
  if (root === null) return { uploads: [], next: undefined };
  const uploads = childrenOf(root, 'Upload').map((upload) => ({
    key: textOf(upload, 'Key'),
    id: textOf(upload, 'UploadId'),
    // What has no readable time counts as new.
    begun: Date.parse(textOf(upload, 'Initiated')) || Number.POSITIVE_INFINITY,
  }));
  const next = { 'key-marker': textOf(root, 'NextKeyMarker'), 'upload-id-marker': textOf(root, 'NextUploadIdMarker') };
  return { uploads, next: textOf(root, 'IsTruncated') === 'true' && next['key-marker'] !== '' ? next : undefined };
};

const childrenOf = (parent: XmlElement, name: string): XmlElement[] =>
  parent.children.filter((child): child is XmlElement => child instanceof XmlElement && child.name === name);

const textOf = (parent: XmlElement, name: string): string => childrenOf(parent, name)[0]?.text ?? '';
