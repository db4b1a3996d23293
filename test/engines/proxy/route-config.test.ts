import { expect, test } from 'bun:test';
import { controlPlaneConfig, render, routeConfig, routeName } from '#engines/proxy/traefik-config-builder/index';
import { route } from '#test/contracts/proxy.ts';

test('plain HTTP with one upstream', () => {
  expect(routeConfig(route({ upstreams: [{ ip: '10.1.2.3', port: 8080 }] }), { tls: false })).toEqual({
    http: {
      routers: {
        'shop.web.0': {
          entryPoints: ['web'],
          rule: 'Host(`web--shop.localhost`)',
          priority: 100,
          service: 'shop.web',
          middlewares: ['shop.web.retry'],
        },
      },
      services: {
        'shop.web': {
          loadBalancer: {
            servers: [{ url: 'http://10.1.2.3:8080' }],
            passHostHeader: true,
            responseForwarding: { flushInterval: '-1ms' },
          },
        },
      },
      middlewares: { 'shop.web.retry': { retry: { attempts: 4, initialInterval: '20ms' } } },
    },
  });
});

test('HTTPS with two hosts, two h2c upstreams and a health path', () => {
  const config = routeConfig(
    route({
      hosts: ['web--shop.example.com', 'shop.example.com'],
      upstreams: [
        { ip: '10.1.2.3', port: 8080 },
        { ip: 'fd00::2', port: 8080 },
      ],
      protocol: 'h2c',
      healthPath: '/health?deep=1',
    }),
    { tls: true },
  );
  expect(config).toEqual({
    http: {
      routers: {
        'shop.web.0': {
          entryPoints: ['websecure'],
          rule: 'Host(`web--shop.example.com`)',
          priority: 100,
          service: 'shop.web',
          middlewares: ['shop.web.retry'],
          tls: { certResolver: 'acme' },
        },
        'shop.web.1': {
          entryPoints: ['websecure'],
          rule: 'Host(`shop.example.com`)',
          priority: 100,
          service: 'shop.web',
          middlewares: ['shop.web.retry'],
          tls: { certResolver: 'acme' },
        },
      },
      services: {
        'shop.web': {
          loadBalancer: {
            servers: [{ url: 'h2c://10.1.2.3:8080' }, { url: 'h2c://[fd00::2]:8080' }],
            passHostHeader: true,
            responseForwarding: { flushInterval: '-1ms' },
            healthCheck: {
              path: '/health?deep=1',
              hostname: 'web--shop.example.com',
              interval: '10s',
              unhealthyInterval: '2s',
              timeout: '3s',
              followRedirects: false,
            },
          },
        },
      },
      middlewares: { 'shop.web.retry': { retry: { attempts: 12, initialInterval: '20ms' } } },
    },
  });
});

test('a lone upstream is not checked: a slow answer must not take the whole service away', () => {
  const config = routeConfig(route({ healthPath: '/health' }), { tls: false });
  expect(config.http.services['shop.web']?.loadBalancer.healthCheck).toBeUndefined();
});

test('the API: above all apps, with the secret header and without retries', () => {
  const config = controlPlaneConfig(
    { hosts: ['berth.example.com'], address: '127.0.0.1:4400' },
    { tls: true, proxySecret: 'a-secret-of-some-length' },
  );
  expect(config).toEqual({
    http: {
      routers: {
        '_control-plane.0': {
          entryPoints: ['websecure'],
          rule: 'Host(`berth.example.com`)',
          priority: 1000,
          service: '_control-plane',
          middlewares: ['_control-plane.proxy-secret'],
          tls: { certResolver: 'acme' },
        },
      },
      services: {
        '_control-plane': {
          loadBalancer: {
            servers: [{ url: 'http://127.0.0.1:4400' }],
            passHostHeader: true,
            responseForwarding: { flushInterval: '-1ms' },
          },
        },
      },
      middlewares: {
        '_control-plane.proxy-secret': {
          headers: { customRequestHeaders: { 'X-Berth-Proxy': 'a-secret-of-some-length' } },
        },
      },
    },
  });
});

test('a rendered file is JSON that reads back the same', () => {
  const config = routeConfig(route({ hosts: ['xn--mnchen-3ya.example.com'] }), { tls: true });
  expect(JSON.parse(render(config))).toEqual(config);
});

test('no two routes share a name', () => {
  expect(routeName('a-b', 'c')).toBe('a-b.c');
  expect(routeName('a', 'b-c')).toBe('a.b-c');
});
