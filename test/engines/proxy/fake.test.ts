import { proxyContract } from '#test/contracts/proxy.ts';
import { createFakeProxy, newFakeProxyState } from '#test/fakes/proxy.ts';

proxyContract('fake', async () => {
  const state = newFakeProxyState();
  const proxy = createFakeProxy(state);
  return {
    proxy,
    live: async (host) => proxy.live(host),
    crash: async () => {
      state.running = false;
    },
    reopen: () => createFakeProxy(state),
    dispose: async () => undefined,
  };
});
