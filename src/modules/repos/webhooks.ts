import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { BerthError, invalidInput } from '#kernel/errors';

export type WebhookProvider = 'github' | 'gitlab' | 'gitea' | 'forgejo';

export interface WebhookRequest {
  headers: Pick<Headers, 'get'>;
  /** As it came: signatures are made over bytes. At most MAX_WEBHOOK_BYTES. */
  body: Uint8Array;
  secret: string;
  /** Milliseconds since the epoch. */
  now: number;
}

export type WebhookEvent =
  /** Refs moved. What they are now is read from the address itself, never from here. */
  | { kind: 'push'; ref: string }
  /** Sent when the webhook is made. */
  | { kind: 'ping' }
  /** Of no interest. */
  | { kind: 'other'; name: string };

export interface Webhook {
  provider: WebhookProvider;
  event: WebhookEvent;
  /**
   * Names this delivery for WEBHOOK_DAYS; one that was seen before is a repetition. Derived from what is signed, as far as
   * anything is: the id in the header of most providers can be changed by whoever replays a delivery.
   */
  delivery: string;
}

/** Payloads list up to 2048 commits at GitHub; real ones are a tenth of that. */
export const MAX_WEBHOOK_BYTES = 5 * 1024 * 1024;
/** Older deliveries are refused where their age is signed; the names of others are to be remembered for so long. */
export const WEBHOOK_DAYS = 1;

/** The tolerance of Standard Webhooks. */
const CLOCK_SKEW_MS = 5 * 60_000;
const DAY_MS = 86_400_000;

/**
 * Recognises and verifies a push webhook, and reads the little of it that berth needs. The sources of the formats:
 * GitHub "Validating webhook deliveries", GitLab "Webhooks" (secret token, and signing token by Standard Webhooks), Gitea and
 * Forgejo "Webhooks". UNAUTHENTICATED for what is not signed with the secret; INVALID_INPUT for what is no such webhook.
 */
export const readWebhook = (request: WebhookRequest): Webhook => {
  const provider = providerOf(request.headers);
  if (provider === undefined) throw unknownSender();
  if (request.body.length > MAX_WEBHOOK_BYTES) throw tooLarge();
  if (request.secret === '') throw badSignature('this repository has no webhook secret');
  const delivery = provider === 'gitlab' ? verifyGitlab(request) : verifyHmac(provider, request);
  const event = eventOf(provider, request);
  return { provider, event, delivery };
};

/** Forgejo sends the headers of Gitea too, and Gitea those of GitHub. */
const providerOf = (headers: WebhookRequest['headers']): WebhookProvider | undefined => {
  if (headers.get('x-forgejo-event') !== null) return 'forgejo';
  if (headers.get('x-gitea-event') !== null) return 'gitea';
  if (headers.get('x-gitlab-event') !== null) return 'gitlab';
  if (headers.get('x-github-event') !== null) return 'github';
  return undefined;
};

const SIGNATURE_HEADER = {
  github: 'x-hub-signature-256',
  gitea: 'x-gitea-signature',
  forgejo: 'x-forgejo-signature',
} as const;

const verifyHmac = (provider: keyof typeof SIGNATURE_HEADER, { headers, body, secret }: WebhookRequest): string => {
  const given = headers.get(SIGNATURE_HEADER[provider]);
  if (given === null || given === '') throw badSignature('it has no signature');
  // Gitea and Forgejo sign the JSON also when they send it as a form, GitHub the form.
  const signed = provider === 'github' ? body : payloadOf({ headers, body });
  const hex = createHmac('sha256', secret).update(signed).digest('hex');
  if (!sameText(given, provider === 'github' ? `sha256=${hex}` : hex))
    throw badSignature('its signature does not match');
  return `sha256:${hex}`;
};

const SIGNING_TOKEN = 'whsec_';

/** A signing token (`whsec_…`) signs time and id with the body; a secret token is only sent along. */
const verifyGitlab = (request: WebhookRequest): string => {
  const { headers, body, secret } = request;
  const id = headers.get('webhook-id');
  const signatures = headers.get('webhook-signature');
  if (secret.startsWith(SIGNING_TOKEN) && signatures !== null) {
    verifyStandard(request, { id: id ?? '', signatures });
    return `gitlab:${id}`;
  }
  const token = headers.get('x-gitlab-token');
  if (token === null || token === '') throw badSignature('it has no secret token');
  if (!sameText(token, secret)) throw badSignature('its secret token does not match');
  const named = headers.get('idempotency-key') ?? headers.get('x-gitlab-event-uuid');
  return `gitlab:${named?.slice(0, 200) ?? createHash('sha256').update(body).digest('hex')}`;
};

/** Standard Webhooks 1.0: `v1,<base64>`, several with spaces between while a token is replaced. */
const verifyStandard = (
  { headers, body, secret, now }: WebhookRequest,
  { id, signatures }: { id: string; signatures: string },
): void => {
  const timestamp = headers.get('webhook-timestamp') ?? '';
  const key = Buffer.from(secret.slice(SIGNING_TOKEN.length), 'base64');
  const wanted = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64');
  if (id === '' || id.length > 200 || !signatures.split(' ').some((each) => sameText(each, `v1,${wanted}`)))
    throw badSignature('its signature does not match');
  if (!/^\d{1,12}$/.test(timestamp) || Math.abs(now - Number(timestamp) * 1000) > CLOCK_SKEW_MS)
    throw badSignature('it was sent at another time, or a clock is wrong');
};

/** Takes the same time whatever the texts are. */
const sameText = (left: string, right: string): boolean => {
  const digest = (text: string): Uint8Array => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(left), digest(right));
};

const isForm = (headers: WebhookRequest['headers']): boolean =>
  /^application\/x-www-form-urlencoded\b/i.test(headers.get('content-type') ?? '');

/** The JSON, out of a form when it comes in one. */
const payloadOf = ({ headers, body }: Pick<WebhookRequest, 'headers' | 'body'>): string => {
  const text = new TextDecoder().decode(body);
  return isForm(headers) ? (new URLSearchParams(text).get('payload') ?? '') : text;
};

const eventOf = (provider: WebhookProvider, request: WebhookRequest): WebhookEvent => {
  const name = (request.headers.get(`x-${provider}-event`) ?? '').slice(0, 100);
  if (name === 'ping') return { kind: 'ping' };
  const payload = parse(payloadOf(request));
  if (provider === 'github') requireRecent(payload, request.now);
  const kind = provider === 'gitlab' ? payload['object_kind'] : name;
  if (kind === 'push' || kind === 'tag_push') return { kind: 'push', ref: refOf(payload['ref']) };
  // Gitea and Forgejo tell so that a branch or tag was made or deleted; its name comes without `refs/heads/`.
  if (kind === 'create' || kind === 'delete') {
    const folder = payload['ref_type'] === 'tag' ? 'tags' : 'heads';
    return {
      kind: 'push',
      ref: refOf(typeof payload['ref'] === 'string' ? `refs/${folder}/${payload['ref']}` : undefined),
    };
  }
  return { kind: 'other', name };
};

const parse = (text: string): Record<string, unknown> => {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch (cause) {
    throw new BerthError('INVALID_INPUT', 'the webhook is not valid JSON', { hint: SETTINGS_HINT, cause });
  }
  throw invalidInput('the webhook is no JSON object', SETTINGS_HINT);
};

const refOf = (value: unknown): string => {
  // oxlint-disable-next-line no-control-regex -- they are what is looked for
  if (typeof value === 'string' && value.length <= 1000 && /^refs\/[^\0-\x20\x7f]+$/.test(value)) return value;
  throw invalidInput('the webhook names no ref', SETTINGS_HINT);
};

/** GitHub says in the signed body when the push was. */
const requireRecent = (payload: Record<string, unknown>, now: number): void => {
  const repository = payload['repository'];
  if (typeof repository !== 'object' || repository === null || !('pushed_at' in repository)) return;
  const pushedAt = repository.pushed_at;
  if (typeof pushedAt === 'number' && now - pushedAt * 1000 > WEBHOOK_DAYS * DAY_MS)
    throw badSignature('it is about a push that is more than a day old');
};

const SETTINGS_HINT =
  'in the settings of the webhook choose the content type application/json, and push events (and branch or tag creation and deletion, where they are separate)';

const unknownSender = (): BerthError =>
  invalidInput(
    'this is no webhook of GitHub, GitLab, Gitea or Forgejo',
    'let one of them send its push webhook to this address; others are covered by polling',
  );

const tooLarge = (): BerthError =>
  new BerthError('INVALID_INPUT', `the webhook is larger than ${MAX_WEBHOOK_BYTES / 1024 / 1024} MiB`, {
    hint: 'let it send push events only; berth polls the address too',
    httpStatus: 413,
  });

const badSignature = (why: string): BerthError =>
  new BerthError('UNAUTHENTICATED', `the webhook is not accepted: ${why}`, {
    hint: 'set the secret of the webhook to the webhook_secret of the repository (PATCH the repository for a new one)',
  });
