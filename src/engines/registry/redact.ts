import { createMasker } from '#kernel/mask';
import type { Descriptor, Manifest, RegistryApi } from './api.ts';
import type { RegistryStorage } from './storage.ts';

export interface RedactRequest {
  repository: string;
  /** Of the manifest that was pushed. */
  digest: string;
  values: readonly string[];
}

interface Work {
  api: RegistryApi;
  repository: string;
  mask: (text: string) => string;
  /** What the redacted image replaces; nothing is removed before all of the new one is stored. */
  stale: { manifests: string[]; configs: string[] };
}

/** The part of an image's config that is rewritten; the rest is passed on as it is. */
interface ImageConfig {
  history?: { created_by?: string; comment?: string }[];
}

/**
 * Replaces a pushed image by one whose history names none of the values, and returns the digest of its manifest: the same one
 * when there was nothing to replace. The builder writes the values of build arguments there, readable to whoever has the image.
 */
export const redactHistory = async (
  { api, storage }: { api: RegistryApi; storage: RegistryStorage },
  { repository, digest, values }: RedactRequest,
): Promise<string> => {
  const work: Work = { api, repository, mask: createMasker(values).mask, stale: { manifests: [], configs: [] } };
  const redacted = await redactManifest(work, digest);
  for (const each of work.stale.manifests) await api.remove(repository, each);
  for (const each of work.stale.configs) {
    await api.removeBlob(repository, each);
    await storage.dropBlob(each);
  }
  return redacted?.digest ?? digest;
};

/** The new manifest; undefined when the old one may stay. */
const redactManifest = async (work: Work, digest: string): Promise<Descriptor | undefined> => {
  const { manifest, mediaType } = await work.api.manifest(work.repository, digest);
  const redacted =
    manifest.manifests === undefined
      ? await redactImage(work, manifest)
      : await redactIndex(work, { ...manifest, manifests: manifest.manifests });
  if (redacted === undefined) return undefined;
  // The outer one is removed first, as nothing may refer to what is gone.
  work.stale.manifests.unshift(digest);
  return work.api.putManifest(work.repository, redacted, mediaType);
};

const redactIndex = async (
  work: Work,
  index: Manifest & { manifests: Descriptor[] },
): Promise<Manifest | undefined> => {
  const manifests: Descriptor[] = [];
  let changed = false;
  for (const inner of index.manifests) {
    const redacted = await redactManifest(work, inner.digest);
    changed ||= redacted !== undefined;
    manifests.push({ ...inner, ...redacted });
  }
  return changed ? { ...index, manifests } : undefined;
};

const redactImage = async (work: Work, manifest: Manifest): Promise<Manifest | undefined> => {
  if (manifest.config === undefined) return undefined;
  const before = await work.api.blobText(work.repository, manifest.config.digest);
  const after = redactConfig(before, work.mask);
  if (after === undefined) return undefined;
  work.stale.configs.push(manifest.config.digest);
  return { ...manifest, config: { ...manifest.config, ...(await work.api.putBlob(work.repository, after)) } };
};

/** The config with masked history; undefined when nothing had to be masked. Pure. */
export const redactConfig = (text: string, mask: (text: string) => string): string | undefined => {
  const config = JSON.parse(text) as ImageConfig;
  if (!Array.isArray(config.history)) return undefined;
  let changed = false;
  const masked = (said: string): string => {
    const hidden = mask(said);
    changed ||= hidden !== said;
    return hidden;
  };
  const history = config.history.map((entry) => ({
    ...entry,
    ...(entry.created_by === undefined ? {} : { created_by: masked(entry.created_by) }),
    ...(entry.comment === undefined ? {} : { comment: masked(entry.comment) }),
  }));
  return changed ? JSON.stringify({ ...config, history }) : undefined;
};
