import { useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { at, call } from '../api.ts';
import { queries } from '../data/client.ts';
import { to } from '../locations.ts';
import type { Source } from './collect.ts';
import { upload } from './upload.ts';

export type DeployState =
  | { step: 'idle' }
  | { step: 'packing' | 'uploading'; done: number; total: number }
  | { step: 'failed'; error: unknown };

interface Target {
  project: string;
  service: string;
  /** Whether the project may have to be made first. */
  create: boolean;
}

/**
 * Packs a source, uploads it, and goes to the deploy. What was packed is kept after a failure, so that trying again only
 * uploads again.
 */
export const useDeploy = () => {
  const [state, setState] = useState<DeployState>({ step: 'idle' });
  const [, navigate] = useLocation();
  const packed = useRef<{ source: Source; archive: Blob }>(undefined);
  const running = useRef<AbortController>(undefined);

  const archiveOf = async (source: Source, signal: AbortSignal): Promise<Blob> => {
    if ('archive' in source) return source.archive;
    if (packed.current?.source === source) return packed.current.archive;
    let done = 0;
    let told = 0;
    setState({ step: 'packing', done, total: source.bytes });
    const { packFiles } = await import('./pack.ts');
    const archive = await packFiles(
      source.files,
      (bytes) => {
        done += bytes;
        if (performance.now() - told < 50) return;
        told = performance.now();
        setState({ step: 'packing', done, total: source.bytes });
      },
      signal,
    );
    packed.current = { source, archive };
    return archive;
  };

  const start = async (source: Source, { project, service, create }: Target): Promise<void> => {
    const controller = new AbortController();
    running.current?.abort();
    running.current = controller;
    try {
      const archive = await archiveOf(source, controller.signal);
      setState({ step: 'uploading', done: 0, total: archive.size });
      if (create) await call('POST', at('projects'), { json: { name: project } });
      const { operation_id: operation } = await upload({
        project,
        service,
        archive,
        onProgress: (done) => setState({ step: 'uploading', done, total: archive.size }),
        signal: controller.signal,
      });
      void queries.invalidateQueries();
      navigate(to('operation', { operation }));
    } catch (thrown) {
      setState(controller.signal.aborted ? { step: 'idle' } : { step: 'failed', error: thrown });
    }
  };
  return { state, start, cancel: () => running.current?.abort(), reset: () => setState({ step: 'idle' }) };
};
