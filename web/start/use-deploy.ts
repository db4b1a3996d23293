import { useEffect, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { asApiError, at, send } from '../api.ts';
import { queries } from '../data/client.ts';
import { to } from '../locations.ts';
import { toast } from '../ui/toast.tsx';
import { loadPacker } from './load.ts';
import type { Source, Tree } from './source.ts';
import { upload } from './upload.ts';

export interface Target {
  project: string;
  service: string;
  /** Whether the project may have to be made first. */
  create: boolean;
}

export type DeployState =
  | { step: 'idle' }
  | { step: 'packing' | 'uploading'; target: Target; done: number; total: number }
  | { step: 'failed'; error: unknown };

/** How often progress is shown. */
const TOLD_MS = 50;

/**
 * Packs a source, uploads it, and goes to the deploy. What was packed is kept after a failure, so that trying again only
 * uploads again. `made` is the project that was created for it.
 */
export const useDeploy = () => {
  const [state, setState] = useState<DeployState>({ step: 'idle' });
  const [, navigate] = useLocation();
  const [made, setMade] = useState<string>();
  const packed = useRef<{ source: Source; archive: Blob }>(undefined);
  const keys = useRef(createKeys());
  const running = useRef<AbortController>(undefined);
  const busy = state.step === 'packing' || state.step === 'uploading';
  const here = useHere(busy);

  const archiveOf = async (source: Source, target: Target, signal: AbortSignal): Promise<Blob> => {
    if ('archive' in source) return source.archive;
    if (packed.current?.source === source) return packed.current.archive;
    const archive = await packTree(source, signal, (done) =>
      setState({ step: 'packing', target, done, total: source.bytes }),
    );
    packed.current = { source, archive };
    return archive;
  };

  const start = async (source: Source, target: Target): Promise<void> => {
    const { project, service, create } = target;
    const controller = new AbortController();
    running.current?.abort();
    running.current = controller;
    const { signal } = controller;
    setState({ step: 'packing', target, done: 0, total: 'archive' in source ? source.archive.size : source.bytes });
    try {
      const archive = await archiveOf(source, target, signal);
      const tell = (done: number): void => setState({ step: 'uploading', target, done, total: archive.size });
      tell(0);
      if (create) {
        const { status } = await send('POST', at('projects'), { json: { name: project }, signal });
        if (status === 201) setMade(project);
      }
      const key = keys.current.of(source, `${project}/${service}`);
      const { operation_id: operation } = await upload({ project, service, archive, key, onProgress: tell, signal });
      keys.current.forget();
      void queries.invalidateQueries();
      const place = to('operation', { operation });
      if (here.current) navigate(place);
      else toast('ok', `${service} was uploaded and is being deployed`, { to: place, label: 'Watch' });
    } catch (thrown) {
      // A deploy that was begun meanwhile has the word.
      if (running.current !== controller) return;
      setState(signal.aborted ? { step: 'idle' } : { step: 'failed', error: thrown });
      if (!here.current) toast('bad', `${service} was not deployed: ${asApiError(thrown).message}`);
    }
  };
  const cancel = (): void => running.current?.abort();
  const reset = (): void => setState({ step: 'idle' });
  return { state, busy, made, start, cancel, reset };
};

const packTree = async (tree: Tree, signal: AbortSignal, tell: (done: number) => void): Promise<Blob> => {
  const { packFiles } = await loadPacker();
  let done = 0;
  let told = performance.now();
  const onBytes = (bytes: number): void => {
    done += bytes;
    if (performance.now() - told < TOLD_MS) return;
    told = performance.now();
    tell(done);
  };
  return packFiles(tree.read(signal), onBytes, signal);
};

/** One key for what is tried again: the same source to the same place. */
const createKeys = () => {
  let last: { source: Source; place: string; key: string } | undefined;
  return {
    of: (source: Source, place: string): string => {
      if (last?.source !== source || last.place !== place) last = { source, place, key: crypto.randomUUID() };
      return last.key;
    },
    forget: (): void => {
      last = undefined;
    },
  };
};

/** Whether the page that began it is still there. Leaving the browser's tab would end what is under way: it asks first. */
const useHere = (busy: boolean) => {
  const here = useRef(true);
  useEffect(() => {
    here.current = true;
    return () => {
      here.current = false;
    };
  }, []);
  useEffect(() => {
    if (!busy) return undefined;
    const ask = (event: BeforeUnloadEvent): void => event.preventDefault();
    addEventListener('beforeunload', ask);
    return () => removeEventListener('beforeunload', ask);
  }, [busy]);
  return here;
};
