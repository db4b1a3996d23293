import { BerthError, notFound } from './errors.ts';

export const CAPABILITIES = [
  'read',
  'deploy',
  'scale',
  'manage_projects',
  'manage_env',
  'manage_datastores',
  'query_datastores',
  'manage_repos',
  'manage_tokens',
  'admin',
] as const;

export type Capability = (typeof CAPABILITIES)[number];

/** Who acts: a token's principal, or berth itself. */
export interface Actor {
  /** `tok_…`, or `system`. */
  tokenId: string;
  principal: string;
  capabilities: readonly Capability[];
  /** Project names, or `*` alone for all. */
  projects: readonly string[];
  /** Milliseconds since the epoch; null for a token without expiry. */
  expiresAt: number | null;
}

export const holds = (actor: Actor, capability: Capability): boolean =>
  actor.capabilities.includes('admin') || actor.capabilities.includes(capability);

export const inScope = (actor: Actor, project: string): boolean =>
  actor.projects.includes('*') || actor.projects.includes(project);

export const requireCapability = (actor: Actor, capability: Capability): void => {
  if (holds(actor, capability)) return;
  throw new BerthError('CAPABILITY_MISSING', `this token lacks the capability "${capability}"`, {
    hint: `use a token that has "${capability}"; it has: ${actor.capabilities.join(', ') || 'none'}`,
  });
};

/** The answer for a project that is missing; a foreign one gets exactly the same. */
export const projectNotFound = (project: string): BerthError =>
  notFound(`no project named "${project}"`, 'list the projects that this token can see with GET /v1/projects');

export const requireProject = (actor: Actor, project: string): void => {
  if (!inScope(actor, project)) throw projectNotFound(project);
};
