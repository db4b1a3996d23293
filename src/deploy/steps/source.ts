import { join } from 'node:path';
import { readSourceTree } from '#engines/builder/source-tree-read';
import { planBuild } from '#engines/builder/detect';
import type { Plan } from '#engines/builder/plan';
import { unpack } from '#engines/source/unpack';
import type { Clock } from '#kernel/clock';
import type { ServiceRow } from '#modules/services';

export interface PlannedSource {
  /** Directory of the unpacked source. */
  dir: string;
  /** sha256 of the unpacked content. */
  digest: string;
  files: number;
  bytes: number;
  plan: Plan;
}

export interface PlanSourceRequest {
  /** The uploaded archive. */
  archive: string;
  /** Directory to work in; the source goes into `src` below it. */
  workDir: string;
  service: ServiceRow;
  env: Record<string, string>;
  clock: Clock;
  signal: AbortSignal;
}

/** Unpacks an uploaded source, and plans how it is built. Changes nothing outside `workDir`. */
export const planSource = async (request: PlanSourceRequest): Promise<PlannedSource> => {
  const dir = join(request.workDir, 'src');
  const unpacked = await unpack({ archive: request.archive, into: dir, clock: request.clock, signal: request.signal });
  const plan = planBuild(readSourceTree(dir), {
    projectEnv: request.env,
    remembered: JSON.parse(request.service.build_memory) as Record<string, string>,
    serviceName: request.service.name,
  });
  return { dir, plan, ...unpacked };
};
