import { proxyContract } from '#test/contracts/proxy.ts';
import { startTraefik } from './support.ts';

proxyContract('Traefik', async () => {
  const traefik = await startTraefik({ patience: { unreachableMs: 500 } });
  return { ...traefik, live: (host) => traefik.live(host), reopen: () => traefik.reopen() };
});
