import { isoTime } from '#kernel/clock';
import type { Actor } from '#kernel/ctx';
import { BerthError, invalidInput } from '#kernel/errors';
import { requireCapability, requireProject } from '#kernel/scope';
import { parseTime } from '#kernel/since';
import type { CreateToken } from './model.ts';

/** Refuses what the issuer may not hand on, and decides the expiry: no token reaches beyond the one that made it. */
export const requireGrantable = (issuer: Actor, wanted: CreateToken, now: number): { expiresAt: number | null } => {
  for (const capability of wanted.capabilities) requireCapability(issuer, capability);
  for (const project of wanted.projects) {
    if (project === '*') requireAllProjects(issuer);
    else requireProject(issuer, project);
  }
  if (wanted.projects.includes('*') && wanted.projects.length > 1) {
    throw invalidInput('body.projects names "*" beside others', 'send ["*"] alone for all projects, or names only');
  }
  return { expiresAt: expiryOf(issuer, wanted.expires_at, now) };
};

const requireAllProjects = (issuer: Actor): void => {
  if (issuer.projects.includes('*')) return;
  throw new BerthError('CAPABILITY_MISSING', 'this token may not grant access to all projects ("*")', {
    hint: `name projects within its own scope: ${issuer.projects.join(', ')}`,
  });
};

const expiryOf = (issuer: Actor, wanted: string | null | undefined, now: number): number | null => {
  if (wanted === undefined) return issuer.expiresAt;
  const limit = issuer.expiresAt;
  if (wanted === null) {
    if (limit !== null) throw tooLate(limit);
    return null;
  }
  const expiresAt = parseTime(wanted);
  if (expiresAt === undefined)
    throw invalidInput('body.expires_at is no time that exists', 'use RFC 3339, e.g. 2027-01-31T12:00:00Z');
  if (expiresAt <= now) throw invalidInput('body.expires_at is in the past', 'choose a time to come, or omit it');
  if (limit !== null && expiresAt > limit) throw tooLate(limit);
  return expiresAt;
};

const tooLate = (limit: number): BerthError =>
  invalidInput('body.expires_at is later than the expiry of the token that issues it', `use at most ${isoTime(limit)}`);
