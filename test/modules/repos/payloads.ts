/**
 * Payloads in the shape that the vendors document, shortened: docs.github.com "Webhook events and payloads",
 * docs.gitlab.com "Webhook events", docs.gitea.com and forgejo.org "Webhooks".
 */
const commit = {
  id: 'bffeb74224043ba2feb48d137756c8a9331c449a',
  message: 'Webhooks Yay!',
  url: 'http://localhost:3000/gitea/webhooks/commit/bffeb74224043ba2feb48d137756c8a9331c449a',
  author: { name: 'Gitea', email: 'someone@gitea.io', username: 'gitea' },
  committer: { name: 'Gitea', email: 'someone@gitea.io', username: 'gitea' },
  timestamp: '2017-03-13T13:52:11-04:00',
};

export const GITHUB_PUSH = {
  ref: 'refs/heads/main',
  before: '6113728f27ae82c7b1a177c8d03f9e96e0adf246',
  after: '59b20b8d5c6ff8d09518454d4dd8b7b30f095ab5',
  base_ref: null,
  compare: 'https://github.com/Codertocat/Hello-World/compare/6113728f27ae...59b20b8d5c6f',
  created: false,
  deleted: false,
  forced: false,
  commits: [{ ...commit, distinct: true, added: [], removed: [], modified: ['README.md'] }],
  head_commit: { ...commit, distinct: true },
  repository: {
    id: 186_853_002,
    name: 'Hello-World',
    full_name: 'Codertocat/Hello-World',
    private: false,
    clone_url: 'https://github.com/Codertocat/Hello-World.git',
    created_at: 1_557_933_565,
    updated_at: '2019-05-15T15:20:41Z',
    pushed_at: 1_557_933_657,
    default_branch: 'main',
    owner: { name: 'Codertocat', login: 'Codertocat', id: 21_031_067, type: 'User' },
  },
  pusher: { name: 'Codertocat', email: '21031067+Codertocat@users.noreply.github.com' },
  sender: { login: 'Codertocat', id: 21_031_067, type: 'User' },
};

export const GITHUB_PING = {
  zen: 'Anything added dilutes everything else.',
  hook_id: 292_430_182,
  hook: { type: 'Repository', id: 292_430_182, active: true, events: ['push'], config: { content_type: 'json' } },
  repository: {
    id: 186_853_002,
    name: 'Hello-World',
    full_name: 'Codertocat/Hello-World',
    pushed_at: '2018-01-01T00:00:00Z',
  },
};

export const GITLAB_PUSH = {
  object_kind: 'push',
  event_name: 'push',
  before: '95790bf891e76fee5e1747ab589903a6a1f80f22',
  after: 'da1560886d4f094c3e6c9ef40349f7d38b5d27d7',
  ref: 'refs/heads/master',
  ref_protected: true,
  checkout_sha: 'da1560886d4f094c3e6c9ef40349f7d38b5d27d7',
  message: 'Hello World',
  user_id: 4,
  user_username: 'jsmith',
  project_id: 15,
  project: {
    id: 15,
    name: 'Diaspora',
    git_http_url: 'http://example.com/mike/diaspora.git',
    visibility_level: 0,
    path_with_namespace: 'mike/diaspora',
    default_branch: 'master',
  },
  commits: [{ ...commit, added: ['CHANGELOG'], modified: ['app/controller/application.rb'], removed: [] }],
  total_commits_count: 4,
  push_options: {},
};

export const GITLAB_TAG = {
  object_kind: 'tag_push',
  event_name: 'tag_push',
  before: '0000000000000000000000000000000000000000',
  after: '82b3d5ae55f7080f1e6022629cdb57bfae7cccc7',
  ref: 'refs/tags/v1.0.0',
  checkout_sha: '82b3d5ae55f7080f1e6022629cdb57bfae7cccc7',
  project_id: 1,
  commits: [],
  total_commits_count: 0,
};

export const GITEA_PUSH = {
  ref: 'refs/heads/develop',
  before: '28e1879d029cb852e4844d9c718537df08844e03',
  after: 'bffeb74224043ba2feb48d137756c8a9331c449a',
  compare_url: 'http://localhost:3000/gitea/webhooks/compare/28e1879d...bffeb742',
  commits: [commit],
  repository: {
    id: 140,
    owner: { id: 1, login: 'gitea', email: 'someone@gitea.io', username: 'gitea' },
    name: 'webhooks',
    full_name: 'gitea/webhooks',
    private: false,
    clone_url: 'http://localhost:3000/gitea/webhooks.git',
    default_branch: 'master',
    created_at: '2017-02-26T04:29:06-05:00',
    updated_at: '2017-03-13T13:51:58-04:00',
  },
  pusher: { id: 1, login: 'gitea' },
  sender: { id: 1, login: 'gitea' },
};

export const GITEA_DELETE = {
  ref: 'feature/x',
  ref_type: 'branch',
  pusher_type: 'user',
  repository: GITEA_PUSH.repository,
  sender: GITEA_PUSH.sender,
};

export const FORGEJO_PUSH = { ...GITEA_PUSH, total_commits: 1, head_commit: commit };
