import { describe, expect, test } from 'bun:test';
import { createHmac } from 'node:crypto';
import { MAX_WEBHOOK_BYTES, readWebhook, type Webhook } from '../../../src/modules/repos/webhooks.ts';
import { BerthError } from '#kernel/errors';
import {
  FORGEJO_PUSH,
  GITEA_DELETE,
  GITEA_PUSH,
  GITHUB_PING,
  GITHUB_PUSH,
  GITLAB_PUSH,
  GITLAB_TAG,
} from './payloads.ts';

const SECRET = '3gEsCfjlV2ugRwgpU-w1';
const NOW = GITHUB_PUSH.repository.pushed_at * 1000 + 5000;

interface Sent {
  headers: Record<string, string>;
  body: string | Uint8Array;
  secret?: string;
  now?: number;
}

const read = ({ headers, body, secret = SECRET, now = NOW }: Sent): Webhook =>
  readWebhook({ headers: new Headers(headers), body: Buffer.from(body), secret, now });

const refusalOf = (sent: Sent): string => {
  try {
    return `accepted: ${JSON.stringify(read(sent))}`;
  } catch (thrown) {
    return thrown instanceof BerthError ? thrown.kind : String(thrown);
  }
};

const hmac = (body: string, secret = SECRET): string => createHmac('sha256', secret).update(body).digest('hex');

const github = (payload: unknown, event = 'push', secret = SECRET): Sent => {
  const body = JSON.stringify(payload);
  return {
    body,
    headers: {
      'content-type': 'application/json',
      'user-agent': 'GitHub-Hookshot/044aadd',
      'x-github-event': event,
      'x-github-delivery': '72d3162e-cc78-11e3-81ab-4c9367dc0958',
      'x-github-hook-id': '292430182',
      'x-hub-signature': `sha1=${createHmac('sha1', secret).update(body).digest('hex')}`,
      'x-hub-signature-256': `sha256=${hmac(body, secret)}`,
    },
  };
};

const gitea = (payload: unknown, event = 'push', secret = SECRET): Sent => {
  const body = JSON.stringify(payload, null, 2);
  const id = 'f6266f16-1bf3-46a5-9ea4-602e06ead473';
  return {
    body,
    headers: {
      'content-type': 'application/json',
      'x-gitea-delivery': id,
      'x-gitea-event': event,
      'x-gitea-event-type': event,
      'x-gitea-signature': hmac(body, secret),
      'x-gogs-delivery': id,
      'x-gogs-event': event,
      'x-gogs-signature': hmac(body, secret),
      'x-github-delivery': id,
      'x-github-event': event,
      'x-hub-signature-256': `sha256=${hmac(body, secret)}`,
    },
  };
};

const forgejo = (payload: unknown, event = 'push', secret = SECRET): Sent => {
  const sent = gitea(payload, event, secret);
  const signature = sent.headers['x-gitea-signature'] ?? '';
  return {
    ...sent,
    headers: { ...sent.headers, 'x-forgejo-event': event, 'x-forgejo-delivery': 'd', 'x-forgejo-signature': signature },
  };
};

const gitlab = (payload: { object_kind: string }, token = SECRET): Sent => ({
  body: JSON.stringify(payload),
  headers: {
    'content-type': 'application/json',
    'user-agent': 'GitLab/17.8.0',
    'idempotency-key': 'f5e5f430-f57b-4e6e-9fac-d9128cd7232f',
    'x-gitlab-event': payload.object_kind === 'tag_push' ? 'Tag Push Hook' : 'Push Hook',
    'x-gitlab-webhook-uuid': 'bf3ac1c5-9f6b-4a4f-a2f9-0f1b3b1c1a11',
    'x-gitlab-instance': 'https://gitlab.example.com',
    'x-gitlab-event-uuid': '13792a34-cac6-4fda-95a8-c58e00a3954e',
    'x-gitlab-token': token,
  },
});

const KEY = Buffer.from('a signing token of thirty-two b.');
const SIGNING = `whsec_${KEY.toString('base64')}`;

const gitlabSigned = (payload: { object_kind: string }, at = NOW): Sent => {
  const sent = gitlab(payload);
  const id = 'f5e5f430-f57b-4e6e-9fac-d9128cd7232f';
  const timestamp = String(Math.floor(at / 1000));
  const signature = createHmac('sha256', KEY)
    .update(`${id}.${timestamp}.${String(sent.body)}`)
    .digest('base64');
  const { 'x-gitlab-token': _token, ...headers } = sent.headers;
  return {
    body: sent.body,
    secret: SIGNING,
    headers: { ...headers, 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` },
  };
};

const SENDERS = [
  ['github', github(GITHUB_PUSH)],
  ['gitea', gitea(GITEA_PUSH)],
  ['forgejo', forgejo(FORGEJO_PUSH)],
  ['gitlab', gitlab(GITLAB_PUSH)],
  ['gitlab', gitlabSigned(GITLAB_PUSH)],
] as const;

describe('what a webhook says', () => {
  test.each([
    ['a push at GitHub', github(GITHUB_PUSH), 'github', { kind: 'push', ref: 'refs/heads/main' }],
    ['the ping of GitHub', github(GITHUB_PING, 'ping'), 'github', { kind: 'ping' }],
    ['a star at GitHub', github({ action: 'created' }, 'star'), 'github', { kind: 'other', name: 'star' }],
    ['a push at GitLab', gitlab(GITLAB_PUSH), 'gitlab', { kind: 'push', ref: 'refs/heads/master' }],
    ['a tag at GitLab', gitlab(GITLAB_TAG), 'gitlab', { kind: 'push', ref: 'refs/tags/v1.0.0' }],
    ['a signed push at GitLab', gitlabSigned(GITLAB_PUSH), 'gitlab', { kind: 'push', ref: 'refs/heads/master' }],
    ['a comment at GitLab', gitlab({ object_kind: 'note' }), 'gitlab', { kind: 'other', name: 'Push Hook' }],
    ['a push at Gitea', gitea(GITEA_PUSH), 'gitea', { kind: 'push', ref: 'refs/heads/develop' }],
    [
      'a branch deleted at Gitea',
      gitea(GITEA_DELETE, 'delete'),
      'gitea',
      { kind: 'push', ref: 'refs/heads/feature/x' },
    ],
    [
      'a tag made at Gitea',
      gitea({ ref: 'v2', ref_type: 'tag' }, 'create'),
      'gitea',
      { kind: 'push', ref: 'refs/tags/v2' },
    ],
    ['a push at Forgejo', forgejo(FORGEJO_PUSH), 'forgejo', { kind: 'push', ref: 'refs/heads/develop' }],
  ] as const)('%s', (_what, sent, provider, event) => {
    expect(read(sent)).toMatchObject({ provider, event });
  });

  test('is read out of a form too, signed as each sender does it', () => {
    const form = (payload: unknown): string => new URLSearchParams({ payload: JSON.stringify(payload) }).toString();
    const type = { 'content-type': 'application/x-www-form-urlencoded' };
    const hub = form(GITHUB_PUSH);
    const atGithub = { 'x-github-event': 'push', 'x-hub-signature-256': `sha256=${hmac(hub)}` };
    expect(read({ body: hub, headers: { ...type, ...atGithub } }).event.kind).toBe('push');
    const tea = form(GITEA_PUSH);
    const atGitea = { 'x-gitea-event': 'push', 'x-gitea-signature': hmac(JSON.stringify(GITEA_PUSH)) };
    expect(read({ body: tea, headers: { ...type, ...atGitea } }).event.kind).toBe('push');
  });
});

describe('the values that the specifications give as examples', () => {
  test('GitHub', () => {
    const sent: Sent = {
      body: 'Hello, World!',
      secret: "It's a Secret to Everybody",
      headers: {
        'x-github-event': 'push',
        'x-hub-signature-256': 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17',
      },
    };
    // The signature is right, and then it is no JSON.
    expect(refusalOf(sent)).toBe('INVALID_INPUT');
    expect(refusalOf({ ...sent, body: 'Hello, World?' })).toBe('UNAUTHENTICATED');
  });

  test('Standard Webhooks', () => {
    const sent: Sent = {
      body: '{"test": 2432232314}',
      secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
      now: 1_614_265_330_000,
      headers: {
        'x-gitlab-event': 'Push Hook',
        'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
        'webhook-timestamp': '1614265330',
        'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
      },
    };
    expect(read(sent).delivery).toBe('gitlab:msg_p5jXN8AQM9LWM0D4loKWxJek');
    expect(refusalOf({ ...sent, body: '{"test": 2432232315}' })).toBe('UNAUTHENTICATED');
  });
});

describe('what is not from who has the secret is refused', () => {
  test.each(SENDERS)('%s: another secret', (_provider, sent) => {
    expect(refusalOf({ ...sent, secret: 'another secret' })).toBe('UNAUTHENTICATED');
    expect(refusalOf({ ...sent, secret: `whsec_${btoa('another')}` })).toBe('UNAUTHENTICATED');
    expect(refusalOf({ ...sent, secret: '' })).toBe('UNAUTHENTICATED');
  });

  test.each(SENDERS.filter(([, sent]) => !('x-gitlab-token' in sent.headers)))(
    '%s: a changed body',
    (_provider, sent) => {
      const body = String(sent.body).replace('refs/heads', 'refs/headz');
      expect(body).not.toBe(String(sent.body));
      expect(refusalOf({ ...sent, body })).toBe('UNAUTHENTICATED');
    },
  );

  test.each(SENDERS)('%s: no signature, an empty one, one of another kind', (_provider, sent) => {
    const names = [
      'x-hub-signature-256',
      'x-gitea-signature',
      'x-forgejo-signature',
      'x-gitlab-token',
      'webhook-signature',
    ];
    for (const value of [undefined, '', 'sha256=', 'null', 'v1,', 'sha1=x', SECRET.slice(0, -1)]) {
      const headers = { ...sent.headers };
      for (const name of names) {
        if (!(name in headers)) continue;
        if (value === undefined) delete headers[name as keyof typeof headers];
        else headers[name as keyof typeof headers] = value;
      }
      expect(refusalOf({ ...sent, headers })).toBe('UNAUTHENTICATED');
    }
  });

  test('a weaker signature does not stand in for a wrong one', () => {
    const sent = forgejo(FORGEJO_PUSH);
    const headers = { ...sent.headers, 'x-forgejo-signature': hmac('something else') };
    expect(refusalOf({ ...sent, headers })).toBe('UNAUTHENTICATED');
    const sha1 = github(GITHUB_PUSH);
    const { 'x-hub-signature-256': _sha256, ...withoutSha256 } = sha1.headers;
    expect(refusalOf({ ...sha1, headers: withoutSha256 })).toBe('UNAUTHENTICATED');
  });

  test('what no sender of these signs', () => {
    expect(refusalOf({ body: '{}', headers: { 'content-type': 'application/json' } })).toBe('INVALID_INPUT');
  });
});

describe('a replayed delivery', () => {
  test.each(SENDERS)('%s: has the name of the first, whatever unsigned headers say', (_provider, sent) => {
    const headers: Record<string, string> = { ...sent.headers };
    for (const name of ['x-github-delivery', 'x-gitea-delivery', 'x-forgejo-delivery', 'x-gitlab-event-uuid'])
      if (name in headers) headers[name] = 'another';
    expect(read({ ...sent, headers }).delivery).toBe(read(sent).delivery);
  });

  test('another push has another name', () => {
    const names = [
      read(github(GITHUB_PUSH)),
      read(github({ ...GITHUB_PUSH, after: GITHUB_PUSH.before })),
      read(gitea(GITEA_PUSH)),
      read(gitlab(GITLAB_PUSH)),
    ].map(({ delivery }) => delivery);
    expect(new Set(names).size).toBe(4);
  });

  test('of GitHub is refused a day later, when its name is forgotten', () => {
    const sent = github(GITHUB_PUSH);
    expect(refusalOf({ ...sent, now: NOW + 86_400_000 })).toBe('UNAUTHENTICATED');
    expect(read({ ...sent, now: NOW + 80_000_000 }).event.kind).toBe('push');
  });

  test('of GitLab with a signing token is refused after minutes, and before its time', () => {
    for (const shift of [301_000, -301_000])
      expect(refusalOf({ ...gitlabSigned(GITLAB_PUSH, NOW + shift), now: NOW })).toBe('UNAUTHENTICATED');
    expect(read({ ...gitlabSigned(GITLAB_PUSH, NOW - 200_000), now: NOW }).event.kind).toBe('push');
    const sent = gitlabSigned(GITLAB_PUSH);
    const headers = { ...sent.headers, 'webhook-timestamp': String(Math.floor(NOW / 1000) + 1) };
    expect(refusalOf({ ...sent, headers })).toBe('UNAUTHENTICATED');
  });

  test('two signatures are fine while a signing token is replaced', () => {
    const sent = gitlabSigned(GITLAB_PUSH);
    const headers = { ...sent.headers, 'webhook-signature': `v1,${btoa('x')} ${sent.headers['webhook-signature']}` };
    expect(read({ ...sent, headers }).event.kind).toBe('push');
  });
});

describe('malformed webhooks are INVALID_INPUT', () => {
  test.each([
    ['no JSON', 'x'],
    ['a JSON text', '"x"'],
    ['null', 'null'],
    ['nothing', ''],
    ['invalid UTF-8', Buffer.from([0xff, 0xfe])],
  ])('%s', (_what, body) => {
    const signature = createHmac('sha256', SECRET).update(body).digest('hex');
    const headers = { 'x-github-event': 'push', 'x-hub-signature-256': `sha256=${signature}` };
    expect(refusalOf({ body, headers })).toBe('INVALID_INPUT');
  });

  test('without a ref that can be one', () => {
    const long = `refs/${'x'.repeat(1000)}`;
    for (const ref of [undefined, null, 7, [], 'main', 'refs/', 'refs/heads/a\nb', 'refs/heads/a b', long])
      expect(refusalOf(github({ ...GITHUB_PUSH, ref }))).toBe('INVALID_INPUT');
  });

  test('larger than they may be', () => {
    const headers = { 'x-github-event': 'push', 'x-hub-signature-256': 'x' };
    expect(refusalOf({ body: new Uint8Array(MAX_WEBHOOK_BYTES + 1), headers })).toBe('INVALID_INPUT');
  });

  test('that try to change the prototype of objects change nothing', () => {
    const sent = github(JSON.parse('{"__proto__": {"polluted": true}, "ref": "refs/heads/x"}'));
    expect(read(sent).event).toEqual({ kind: 'push', ref: 'refs/heads/x' });
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });
});
