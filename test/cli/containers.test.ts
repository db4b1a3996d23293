import { expect, test } from 'bun:test';
import { restartMounted, type DockerCall } from '#cli/state/containers';

test('only the containers with a mount below the data directory are restarted', async () => {
  const calls: string[] = [];
  const containers = [
    { Id: 'aaa', Names: ['/berth-1-proxy'], Mounts: [{ Source: '/data/proxy/dynamic' }] },
    { Id: 'bbb', Names: ['/other'], Mounts: [{ Source: '/data-of-another/proxy' }, {}] },
    { Id: 'ccc', Names: ['/app'], Mounts: [] },
  ];
  const docker: DockerCall = async (method, path) => {
    calls.push(`${method} ${path}`);
    return method === 'GET' ? { status: 200, body: containers } : { status: 204, body: undefined };
  };
  expect(await restartMounted(docker, '/data')).toEqual(['berth-1-proxy']);
  expect(calls).toEqual(['GET /containers/json', 'POST /containers/aaa/restart']);
});
