import type { ImageBuilder, BuiltImage } from '#engines/builder/port';
import { contextFiles } from '#engines/builder/dockerfile';
import { refuseForeignSyntax } from '#engines/builder/dockerfile-check';
import { refuseRemoteAdds } from '#engines/builder/dockerfile-remote';
import { packContext, sourceTime, type ContextOptions } from '#engines/source/context';
import { readDockerignore } from '#engines/source/dockerignore';
import { join } from 'node:path';
import { readFile } from 'node:fs/promises';
import type { PlannedSource } from './source.ts';

export interface BuildStepRequest {
  builder: ImageBuilder;
  source: PlannedSource;
  tag: string;
  labels: Record<string, string>;
  /** What the build may see of the project's variables. */
  env: Record<string, string>;
  /** Caches belong to one service. */
  cacheScope: string;
  noCache: boolean;
  signal: AbortSignal;
  onDockerfile: (text: string) => void;
  onLog: (line: string) => void;
}

/** Builds the image of a planned source. */
export const buildImage = async (request: BuildStepRequest): Promise<BuiltImage> => {
  const { source } = request;
  const own = source.plan.dockerfile;
  const buildArgs = own === null ? {} : declaredArgs(own.declaredArgs, request.env);
  const context = own === null ? generatedContext(request) : await ownContext(source, own.path, buildArgs);
  const dockerfile = own === null ? 'berth/Dockerfile' : own.path;
  request.onDockerfile(String(context.files?.find(({ path }) => path === dockerfile)?.content ?? ''));
  return request.builder.build({
    context: packContext({ ...context, mtime: sourceTime(source.digest) }),
    dockerfile,
    tag: request.tag,
    buildArgs,
    labels: request.labels,
    cacheScope: request.cacheScope,
    noCache: request.noCache,
    signal: request.signal,
    onLog: ({ line }) => request.onLog(line),
  });
};

/** The values that the builder gets as build arguments, which it writes into the image's history. */
export const argumentValues = ({ plan }: PlannedSource, env: Record<string, string>): string[] =>
  plan.dockerfile === null ? [] : Object.values(declaredArgs(plan.dockerfile.declaredArgs, env));

const generatedContext = ({ source, env, cacheScope }: BuildStepRequest): ContextOptions => ({
  layers: [{ dir: source.dir, prefix: 'source' }],
  files: contextFiles(source.plan, env, cacheScope),
});

/** A Dockerfile of the user's own sees the source as it is; only its text is checked, and cleaned of a harmless frontend line. */
const ownContext = async (
  source: PlannedSource,
  path: string,
  buildArgs: Record<string, string>,
): Promise<ContextOptions> => {
  const dir = join(source.dir, source.plan.root);
  const text = refuseForeignSyntax(await readFile(join(dir, path), 'utf8'));
  refuseRemoteAdds(text, buildArgs);
  const ignore = await readDockerignore(dir, path);
  return {
    layers: [{ dir, prefix: '', ...(ignore === undefined ? {} : { ignore }) }],
    files: [{ path, content: text }],
  };
};

/** Values for those `ARG`s that the Dockerfile declares; nothing else of the project's variables enters the build. */
const declaredArgs = (names: readonly string[], env: Record<string, string>): Record<string, string> =>
  Object.fromEntries(names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])));
