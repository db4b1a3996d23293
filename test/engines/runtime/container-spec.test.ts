import { expect, test } from 'bun:test';
import { APP_CAPABILITIES, createBody } from '#engines/runtime/container-spec';
import { networkBody } from '#engines/runtime/networks';
import type { ContainerSpec } from '#engines/runtime/port';

const APP: ContainerSpec = {
  name: 'berth-shop-web-1',
  image: '127.0.0.1:4402/shop/web:rel_0123456789ab',
  env: { PORT: '8080', GREETING: 'a=b c' },
  labels: { 'berth.project': 'shop', 'berth.service': 'web' },
  network: { name: 'berth-shop', ip: '10.208.0.7', aliases: ['web'] },
  loopbackPorts: [],
  mounts: [],
  volumes: [],
  memoryBytes: 536_870_912,
  cpus: 0.5,
  pidsLimit: 512,
  capAdd: [...APP_CAPABILITIES],
  readOnlyRoot: false,
  tmpfs: [],
  restart: 'unless-stopped',
  init: true,
  stopGraceSeconds: 10.2,
};

const BASE_HOST_CONFIG = {
  CapDrop: ['ALL'],
  SecurityOpt: ['no-new-privileges:true'],
  Privileged: false,
  Devices: [],
  IpcMode: 'private',
  RestartPolicy: { Name: 'unless-stopped' },
  OomKillDisable: false,
  OomScoreAdj: 0,
  Ulimits: [{ Name: 'nofile', Soft: 16_384, Hard: 16_384 }],
  LogConfig: { Type: 'json-file', Config: { 'max-size': '10m', 'max-file': '3', compress: 'false' } },
  PublishAllPorts: false,
};

test('the request for an app replica closes all that its spec does not open', () => {
  expect(createBody(APP)).toEqual({
    Image: '127.0.0.1:4402/shop/web:rel_0123456789ab',
    Env: ['PORT=8080', 'GREETING=a=b c'],
    Labels: { 'berth.project': 'shop', 'berth.service': 'web' },
    StopTimeout: 11,
    Healthcheck: { Test: ['NONE'] },
    ExposedPorts: {},
    HostConfig: {
      ...BASE_HOST_CONFIG,
      CapAdd: ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'KILL', 'NET_BIND_SERVICE', 'SETGID', 'SETUID'],
      ReadonlyRootfs: false,
      Init: true,
      Memory: 536_870_912,
      MemorySwap: 536_870_912,
      NanoCpus: 500_000_000,
      PidsLimit: 512,
      Tmpfs: {},
      Mounts: [],
      NetworkMode: 'berth-shop',
      PortBindings: {},
      ExtraHosts: [],
    },
    NetworkingConfig: {
      EndpointsConfig: { 'berth-shop': { IPAMConfig: { IPv4Address: '10.208.0.7' }, Aliases: ['web'] } },
    },
  });
});

test('the request for Traefik has the network of the host, a read-only root and its configuration', () => {
  const traefik: ContainerSpec = {
    ...APP,
    name: 'berth-traefik',
    image: 'traefik:v3.6',
    command: ['--configFile=/etc/traefik/traefik.yaml'],
    env: {},
    network: 'host',
    mounts: [{ hostPath: '/var/lib/berth/proxy', target: '/etc/traefik', readOnly: true }],
    user: '65534:65534',
    capAdd: ['NET_BIND_SERVICE'],
    readOnlyRoot: true,
    tmpfs: ['/tmp'],
    stopGraceSeconds: 30,
  };
  expect(createBody(traefik)).toEqual({
    Image: 'traefik:v3.6',
    Cmd: ['--configFile=/etc/traefik/traefik.yaml'],
    User: '65534:65534',
    Env: [],
    Labels: APP.labels,
    StopTimeout: 30,
    Healthcheck: { Test: ['NONE'] },
    ExposedPorts: {},
    HostConfig: {
      ...BASE_HOST_CONFIG,
      CapAdd: ['NET_BIND_SERVICE'],
      ReadonlyRootfs: true,
      Init: true,
      Memory: 536_870_912,
      MemorySwap: 536_870_912,
      NanoCpus: 500_000_000,
      PidsLimit: 512,
      Tmpfs: { '/tmp': 'rw,noexec,nosuid,nodev,mode=1777,size=268435456' },
      Mounts: [
        {
          Type: 'bind',
          Source: '/var/lib/berth/proxy',
          Target: '/etc/traefik',
          ReadOnly: true,
          BindOptions: { Propagation: 'rprivate' },
        },
      ],
      NetworkMode: 'host',
      PortBindings: {},
      ExtraHosts: [],
    },
    NetworkingConfig: { EndpointsConfig: {} },
  });
});

test('the request for the registry is published on loopback only, and keeps its data in a volume', () => {
  const registry: ContainerSpec = {
    ...APP,
    name: 'berth-registry',
    image: 'registry:3',
    entrypoint: ['registry'],
    command: ['serve', '/etc/distribution/config.yml'],
    network: { name: 'berth-platform', ip: '10.208.2.2', aliases: [] },
    loopbackPorts: [{ host: 4402, container: 5000 }],
    volumes: [{ name: 'berth-registry', target: '/var/lib/registry', labels: { 'berth.kind': 'registry' } }],
    capAdd: [],
    init: false,
    restart: 'no',
    extraHosts: { store: '10.208.2.9' },
  };
  expect(createBody(registry)).toEqual({
    Image: 'registry:3',
    Entrypoint: ['registry'],
    Cmd: ['serve', '/etc/distribution/config.yml'],
    Env: ['PORT=8080', 'GREETING=a=b c'],
    Labels: APP.labels,
    StopTimeout: 11,
    Healthcheck: { Test: ['NONE'] },
    ExposedPorts: { '5000/tcp': {} },
    HostConfig: {
      ...BASE_HOST_CONFIG,
      RestartPolicy: { Name: 'no' },
      CapAdd: [],
      ReadonlyRootfs: false,
      Init: false,
      Memory: 536_870_912,
      MemorySwap: 536_870_912,
      NanoCpus: 500_000_000,
      PidsLimit: 512,
      Tmpfs: {},
      Mounts: [
        {
          Type: 'volume',
          Source: 'berth-registry',
          Target: '/var/lib/registry',
          ReadOnly: false,
          VolumeOptions: {
            NoCopy: false,
            Labels: { 'berth.kind': 'registry' },
            DriverConfig: { Name: 'local', Options: {} },
          },
        },
      ],
      NetworkMode: 'berth-platform',
      PortBindings: { '5000/tcp': [{ HostIp: '127.0.0.1', HostPort: '4402' }] },
      ExtraHosts: ['store:10.208.2.9'],
    },
    NetworkingConfig: {
      EndpointsConfig: { 'berth-platform': { IPAMConfig: { IPv4Address: '10.208.2.2' }, Aliases: [] } },
    },
  });
});

test('the request for a job keeps nothing of what it prints', () => {
  const { HostConfig } = createBody({ ...APP, keepLogs: false, shmBytes: 134_217_728, cpuShares: 256 });
  expect(HostConfig).toMatchObject({ LogConfig: { Type: 'none', Config: {} }, ShmSize: 134_217_728, CpuShares: 256 });
});

test('the request for a network has IPv4 only, a bridge of a known name, and publishes on loopback', () => {
  expect(
    networkBody({
      name: 'berth-shop',
      subnet: '10.208.0.0/23',
      gateway: '10.208.0.1',
      bridge: 'brth1',
      labels: { 'berth.project': 'shop' },
      interContainer: false,
    }),
  ).toEqual({
    Name: 'berth-shop',
    CheckDuplicate: true,
    Driver: 'bridge',
    EnableIPv6: false,
    Internal: false,
    Attachable: false,
    IPAM: { Driver: 'default', Config: [{ Subnet: '10.208.0.0/23', Gateway: '10.208.0.1' }] },
    Options: {
      'com.docker.network.bridge.name': 'brth1',
      'com.docker.network.bridge.enable_icc': 'false',
      'com.docker.network.bridge.host_binding_ipv4': '127.0.0.1',
    },
    Labels: { 'berth.project': 'shop' },
  });
});
