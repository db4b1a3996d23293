import type { Berth } from '#test/support/berth.ts';
import { packExample } from '#test/support/examples.ts';
import { apiOf, type Api } from './api.ts';
import { BROKEN_BUILD, CRASHING_WORKER, longBuild, STOREFRONT } from './apps.ts';
import { KEYS, TABLES } from './data.ts';
import { fillRepo } from './repo.ts';

/** What only the server names: parts of pages' addresses. */
export interface World {
  deployed: string;
  failed: string;
  running: string;
  commit: string;
}

interface Accepted {
  operation_id: string;
}

/** Fills an empty server with what a small shop would have on it. `traffic` goes on until it is told to end. */
export const fillWorld = async (berth: Berth, say: (line: string) => void): Promise<World & { end: () => void }> => {
  const api = apiOf(berth);
  for (const project of ['shop', 'journal', 'lab']) await berth.project(project);
  say('services');
  await deploy(berth, 'shop', 'web', STOREFRONT);
  const end = sendTraffic(berth);
  const deployed = await deploy(berth, 'shop', 'web', { ...STOREFRONT, 'version.txt': '2' });
  await Promise.all([
    api.patch('/v1/projects/shop/services/web', { replicas: 2 }),
    deploy(berth, 'shop', 'mailer', CRASHING_WORKER),
    example(berth, 'journal', 'site', 'static-site'),
    example(berth, 'lab', 'forecast', 'python-fastapi'),
    example(berth, 'lab', 'go-service', 'go-http'),
  ]);
  say('datastores');
  await fillDatastores(berth, api);
  say('repository, tokens, variables');
  const commit = await fillRepo(api, 'journal');
  await fillSettings(api);
  const failed = await failedDeploy(berth);
  const { body } = await berth.upload('shop', 'catalog', longBuild(berth.instance()));
  return { deployed, failed, running: body.operation_id, commit, end };
};

const deploy = async (
  berth: Berth,
  project: string,
  service: string,
  files: Record<string, string>,
): Promise<string> => {
  const { operation_id: id, status, error } = await berth.deploy(project, service, files);
  if (status !== 'succeeded') throw new Error(`${project}/${service}: ${JSON.stringify(error)}`);
  return id;
};

const example = async (berth: Berth, project: string, service: string, name: string): Promise<void> => {
  const { body } = await berth.uploadArchive(project, service, await packExample(name));
  await done(berth, body);
};

const done = async (berth: Berth, { operation_id: id }: Accepted): Promise<void> => {
  const { status, error } = await berth.wait(id, 600);
  if (status !== 'succeeded') throw new Error(`operation ${id}: ${JSON.stringify(error)}`);
};

/** A service that was live, and whose next deploy fails. */
const failedDeploy = async (berth: Berth): Promise<string> => {
  await deploy(berth, 'shop', 'checkout', STOREFRONT);
  const { operation_id: id } = await berth.deploy('shop', 'checkout', BROKEN_BUILD);
  return id;
};

const fillDatastores = async (berth: Berth, api: Api): Promise<void> => {
  const at = '/v1/projects/shop/datastores';
  for (const [kind, name] of [
    ['postgres', 'main'],
    ['redis', 'cache'],
  ])
    await done(berth, await api.post<Accepted>(at, { kind, name, memory_mb: 256 }));
  for (const query of TABLES) await api.post(`${at}/main/query`, { query });
  for (const query of KEYS) await api.post(`${at}/cache/query`, { query });
  await done(berth, await api.post<Accepted>(`${at}/main/backups`));
  await api.post(`${at}/main/query`, { query: 'delete from orders where id <= 40' });
  await done(berth, await api.post<Accepted>(`${at}/main/backups`));
};

/** Values are made up, and no page shows one. */
const fillSettings = async (api: Api): Promise<void> => {
  await api.put('/v1/projects/shop/env', {
    PAYMENT_PROVIDER_KEY: 'made-up',
    MAIL_FROM: 'shop@example.com',
    SESSION_SECRET: 'made-up-too',
    FEATURE_GIFT_CARDS: 'on',
    LOG_LEVEL: 'info',
  });
  for (const [principal, capabilities, projects] of [
    ['ci@shop', ['read', 'deploy'], ['shop']],
    ['ada', ['read', 'deploy', 'scale', 'manage_env', 'query_datastores'], ['shop', 'journal']],
    ['status-page', ['read'], ['*']],
    ['agent', ['read', 'deploy', 'manage_repos'], ['lab']],
  ])
    await api.post('/v1/tokens', { principal, capabilities, projects });
};

const PATHS = ['/', '/', '/products/12', '/products/44', '/cart', '/search?q=linen', '/search?q=oak+tray', '/checkout'];

/** A few requests a second, of which each takes the next path. */
const sendTraffic = (berth: Berth): (() => void) => {
  let count = 0;
  const timer = setInterval(() => {
    const path = PATHS[count % PATHS.length] ?? '/';
    count += 1;
    void berth.app('shop', 'web', path).then(
      (reply) => reply.text(),
      () => undefined,
    );
    if (count % 3 === 0)
      void berth.app('journal', 'site', '/').then(
        (reply) => reply.text(),
        () => undefined,
      );
  }, 150);
  return () => clearInterval(timer);
};
