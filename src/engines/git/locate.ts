import type { Outgoing, OutsideReply, OutsideUrl } from '#engines/outgoing/port';
import { BerthError, invalidInput } from '#kernel/errors';
import type { Git } from './port.ts';

type MirrorSource = Parameters<Git['mirror']>[1];

/** Where a repository elsewhere really is, ready for `Git.mirror`. */
export interface Located extends Pick<MirrorSource, 'url' | 'pinned' | 'credential'> {
  /** The branch that HEAD names there; null for an empty repository. */
  defaultBranch: string | null;
}

interface Remote {
  url: string;
  credential: MirrorSource['credential'];
  signal?: AbortSignal;
}

const SUFFIX = '/info/refs?service=git-upload-pack';
const TYPE = 'application/x-git-upload-pack-advertisement';
const MAX_REDIRECTS = 3;
const ANSWER_MS = 30_000;
/** Holds the capabilities in the first lines of gitprotocol-http(5); the refs behind them are not needed. */
const HEAD_BYTES = 16 * 1024;

/**
 * Asks the address whether a repository is there, and follows redirects: each is checked like the first address, none leads
 * from https to http, and the credential stays with the host that it was given for. INVALID_INPUT or NOT_FOUND for what
 * has to be changed by the user; retryable errors for the rest.
 */
export const locateRemote = async (outgoing: Outgoing, remote: Remote): Promise<Located> => {
  const first = outgoing.checkUrl(remote.url);
  let url = first;
  for (let hops = 0; hops <= MAX_REDIRECTS; hops += 1) {
    const credential = sameOrigin(first, url) ? remote.credential : null;
    const reply = await ask(outgoing, url, { ...remote, credential });
    const next = redirectOf(outgoing, url, reply);
    if (next === undefined) {
      requireRepository(reply, { redirected: hops > 0 && credential === null && remote.credential !== null });
      return { url: url.href, pinned: reply.pinned, credential, defaultBranch: headOf(reply.body) };
    }
    url = next;
  }
  throw badRedirect(`it redirects more than ${MAX_REDIRECTS} times`);
};

/** What `Authorization` says; INVALID_INPUT for a user that the header cannot carry. */
export const basicAuthorization = ({ user, password }: { user: string; password: string }): string => {
  // oxlint-disable-next-line no-control-regex -- they are what is looked for
  if (/[:\0-\x1f\x7f]/.test(user) || /[\0-\x1f\x7f]/.test(password)) {
    throw invalidInput(
      'the mirror_credential has a colon in its user, or control characters',
      'give the user name and the token as the other server shows them',
    );
  }
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
};

const ask = (outgoing: Outgoing, url: OutsideUrl, { credential, signal }: Remote): Promise<OutsideReply> =>
  outgoing.get(url, {
    path: `${new URL(url.href).pathname}${SUFFIX}`,
    headers: {
      pragma: 'no-cache',
      ...(credential === null ? {} : { authorization: basicAuthorization(credential) }),
    },
    maxBytes: HEAD_BYTES,
    deadlineMs: ANSWER_MS,
    ...(signal === undefined ? {} : { signal }),
  });

const sameOrigin = (left: OutsideUrl, right: OutsideUrl): boolean =>
  left.scheme === right.scheme && left.host === right.host && left.port === right.port;

const redirectOf = (outgoing: Outgoing, from: OutsideUrl, reply: OutsideReply): OutsideUrl | undefined => {
  if (![301, 302, 303, 307, 308].includes(reply.status)) return undefined;
  const target = reply.location === null ? null : URL.parse(reply.location, `${from.href}${SUFFIX}`);
  if (target === null) throw badRedirect('it redirects to nowhere');
  // What git asks for elsewhere ends alike; a page to log in does not.
  if (!target.href.endsWith(SUFFIX)) throw badRedirect('it redirects to something that is no git repository');
  if (from.scheme === 'https' && target.protocol !== 'https:') throw badRedirect('it redirects from https to http');
  return outgoing.checkUrl(target.href.slice(0, -SUFFIX.length));
};

const badRedirect = (why: string): BerthError =>
  invalidInput(
    `the address is of no use: ${why}`,
    'use the address that git clone takes in the end, and check mirror_credential',
  );

const requireRepository = (
  { status, contentType, body }: OutsideReply,
  { redirected }: { redirected: boolean },
): void => {
  if (status === 401 || status === 403) throw refusedCredential(status, redirected);
  if (status === 404 || status === 410) throw noRepository(`it answers with ${status}`);
  if (status !== 200) throw brokenServer(`it answers with ${status}`);
  // Servers without git send files as they are: slow, and those files may name other addresses.
  if (
    contentType !== TYPE ||
    !/^[0-9a-f]{4}# service=git-upload-pack/.test(Buffer.from(body).toString('latin1', 0, 60))
  )
    throw noRepository('what answers speaks no smart HTTP');
};

export const refusedCredential = (status: number | string, redirected = false): BerthError =>
  invalidInput(
    `the address refuses berth (${status})`,
    redirected
      ? 'it redirects to another host, which does not get the credential: set mirror_of to the address that it leads to'
      : 'set mirror_credential to a user and a token that may read the repository',
  );

export const noRepository = (why: string): BerthError =>
  new BerthError('NOT_FOUND', `no git repository is at the address: ${why}`, {
    hint: 'check mirror_of; a private repository needs a mirror_credential as well',
  });

export const brokenServer = (why: string, cause?: unknown): BerthError =>
  new BerthError('INTERNAL_ERROR', `the server at the address failed: ${why}`, {
    hint: 'retry; berth tries again by itself too',
    retryable: true,
    httpStatus: 502,
    ...(cause === undefined ? {} : { cause }),
  });

/** From the capabilities behind the first ref (gitprotocol-capabilities(5)). */
const headOf = (body: Uint8Array): string | null => {
  const text = Buffer.from(body).toString('utf8');
  const nul = text.indexOf('\0');
  const end = text.indexOf('\n', nul);
  if (nul < 0 || end < 0) return null;
  return / symref=HEAD:refs\/heads\/(\S+)/.exec(` ${text.slice(nul + 1, end)}`)?.[1] ?? null;
};
