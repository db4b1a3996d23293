import { invalidInput } from '#kernel/errors';
import text from './skill.md' with { type: 'text' };

/** Version of the contract, as in the response header of `/skill.md`. */
export const SKILL_VERSION = 'v0.1';
const PINNED = new Set(['1', 'v0.1', '0.1']);

/** The guide for agents with the address filled in under which it was asked for. */
export const skillReply = (version: string | undefined, baseUrl: string): Response => {
  if (version !== undefined && !PINNED.has(version)) {
    throw invalidInput('query.v names a version that this server has not', 'use v=1, or leave it out');
  }
  return new Response(text.replaceAll('{base_url}', baseUrl), {
    headers: { 'content-type': 'text/markdown; charset=utf-8', 'x-service-skill-version': SKILL_VERSION },
  });
};
