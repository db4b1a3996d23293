import { expect, test } from 'bun:test';
import { DEFAULT_CONFIG } from '#kernel/config';
import type { ServiceRow } from '#modules/services';
import { appPort, projectNetwork, replicaSpec } from '../../src/deploy/specs.ts';

const service: ServiceRow = {
  project: 'shop',
  name: 'web',
  replicas: 1,
  health_path: null,
  health_timeout_seconds: 60,
  drain_seconds: 10,
  memory_mb: 256,
  cpus: 0.5,
  protocol: 'http',
  live_release: null,
  previous_release: null,
  build_memory: '{}',
  created_at: 0,
  updated_at: 0,
};

test('the container of a replica, whole', () => {
  const spec = replicaSpec({
    config: { ...DEFAULT_CONFIG, httpPort: 8080 },
    instance: '750ffe463f38',
    service,
    network: 'berth-750ffe463f38-shop',
    image: 'sha256:abc',
    operationId: 'op_0123456789abcdefghij',
    slot: 2,
    ip: '10.208.0.5',
    env: { GREETING: 'hi', PORT: '3000' },
    mounts: [],
  });
  expect(spec).toEqual({
    name: 'berth-shop-web-2-abcdefghij',
    image: 'sha256:abc',
    env: {
      BERTH_PROJECT: 'shop',
      BERTH_SERVICE: 'web',
      BERTH_SERVICE_URL: 'http://web--shop.localhost:8080',
      GREETING: 'hi',
      PORT: '3000',
    },
    labels: {
      'dev.berth.instance': '750ffe463f38',
      'dev.berth.role': 'replica',
      'dev.berth.project': 'shop',
      'dev.berth.service': 'web',
      'dev.berth.operation': 'op_0123456789abcdefghij',
    },
    network: { name: 'berth-750ffe463f38-shop', ip: '10.208.0.5', aliases: ['web'] },
    loopbackPorts: [],
    mounts: [],
    volumes: [],
    memoryBytes: 268_435_456,
    cpus: 0.5,
    pidsLimit: 512,
    capAdd: ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'KILL', 'NET_BIND_SERVICE', 'SETGID', 'SETUID'],
    readOnlyRoot: false,
    tmpfs: [],
    restart: 'no',
    init: true,
    stopGraceSeconds: 10,
  });
});

test('PORT is 8080 unless the project sets a port', () => {
  expect(appPort({})).toBe(8080);
  expect(appPort({ PORT: '3000' })).toBe(3000);
  expect(appPort({ PORT: 'x' })).toBe(8080);
  expect(appPort({ PORT: '70000' })).toBe(8080);
});

test('bridges of projects are told apart, and fit the kernel’s 15 characters', () => {
  const names = new Set<string>();
  for (let n = 0; n < 500; n += 1) {
    const { bridge, gateway } = projectNetwork('750ffe463f38', {
      name: `p${n}`,
      network: `berth-750ffe463f38-p${n}`,
      subnet: '10.208.2.0/23',
    });
    expect(bridge).toMatch(/^brth[0-9a-z]{11}$/);
    expect(gateway).toBe('10.208.2.1');
    names.add(bridge);
  }
  expect(names.size).toBe(500);
});
