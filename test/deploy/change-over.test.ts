import { describe, expect, test } from 'bun:test';
import { changeOver } from '../../src/deploy/change-over.ts';
import { surplusReleases } from '../../src/deploy/collect.ts';
import { planRepair, strayBuilds } from '../../src/deploy/recover.ts';
import { parseTcpTable } from '../../src/deploy/sockets.ts';
import type { ReleaseRow } from '#modules/releases';
import type { ReplicaRow, ServiceRow } from '#modules/services';

const service = (patch: Partial<ServiceRow> = {}): ServiceRow => ({
  project: 'shop',
  name: 'web',
  replicas: 2,
  health_path: null,
  health_timeout_seconds: 60,
  drain_seconds: 10,
  memory_mb: 512,
  cpus: 1,
  protocol: 'http',
  live_release: 'rel_2',
  previous_release: 'rel_1',
  build_memory: '{}',
  created_at: 0,
  updated_at: 0,
  ...patch,
});

const replica = (slot: number, patch: Partial<ReplicaRow> = {}): ReplicaRow => ({
  container_id: `c${slot}`,
  name: `web-${slot}`,
  project: 'shop',
  service: 'web',
  release: 'rel_2',
  operation_id: 'op_1',
  slot,
  ip: `10.0.0.${slot + 1}`,
  port: 8080,
  state: 'live',
  created_at: slot,
  ...patch,
});

const release = (n: number, patch: Partial<ReleaseRow> = {}): ReleaseRow => ({
  project: 'shop',
  service: 'web',
  id: `rel_${n}`,
  digest: `sha256:${n}`,
  image: `registry/shop/web@sha256:${n}`,
  size_bytes: 1,
  provider: 'node',
  source_sha256: null,
  commit_id: null,
  operation_id: 'op_1',
  created_at: n,
  created_by: 'admin',
  last_live_at: n,
  env_names: null,
  build: null,
  ...patch,
});

describe('which replicas stay, start and go', () => {
  test('a new release replaces every live replica', () => {
    const plan = changeOver(service(), [replica(1), replica(2)], 'image', { replaceAll: true });
    expect(plan.keep).toEqual([]);
    expect(plan.slots).toEqual([1, 2]);
    expect(plan.retire.map((row) => row.slot)).toEqual([1, 2]);
  });

  test('scaling up keeps what runs and fills the gaps in the numbering', () => {
    const plan = changeOver(service({ replicas: 4 }), [replica(1), replica(3)], 'image', { replaceAll: false });
    expect(plan.keep.map((row) => row.slot)).toEqual([1, 3]);
    expect(plan.slots).toEqual([2, 4]);
    expect(plan.retire).toEqual([]);
  });

  test('scaling down retires the highest numbers', () => {
    const plan = changeOver(service({ replicas: 1 }), [replica(1), replica(2), replica(3)], 'image', {
      replaceAll: false,
    });
    expect(plan.slots).toEqual([]);
    expect(plan.retire.map((row) => row.slot)).toEqual([2, 3]);
  });

  test('zero replicas retire all and start none', () => {
    const plan = changeOver(service({ replicas: 0 }), [replica(1)], 'image', { replaceAll: true });
    expect(plan).toMatchObject({ keep: [], slots: [] });
    expect(plan.retire).toHaveLength(1);
  });

  test('replicas that are starting or draining are no part of it', () => {
    const plan = changeOver(
      service({ replicas: 1 }),
      [replica(1, { state: 'draining' }), replica(2, { state: 'starting' })],
      'image',
      { replaceAll: false },
    );
    expect(plan).toMatchObject({ keep: [], slots: [1], retire: [] });
  });
});

describe('which releases are surplus', () => {
  const all = Array.from({ length: 14 }, (_, n) => release(n + 1));

  test('the newest ten are kept', () => {
    const surplus = surplusReleases(service({ live_release: 'rel_14', previous_release: 'rel_13' }), all, new Set());
    expect(surplus.map((row) => row.id)).toEqual(['rel_4', 'rel_3', 'rel_2', 'rel_1']);
  });

  test('the live one and its predecessor are kept however old they are, and what replicas run', () => {
    const surplus = surplusReleases(
      service({ live_release: 'rel_1', previous_release: 'rel_2' }),
      all,
      new Set(['rel_3']),
    );
    expect(surplus.map((row) => row.id)).toEqual(['rel_7', 'rel_6', 'rel_5', 'rel_4']);
  });

  test('fewer than ten are all kept', () => {
    expect(surplusReleases(service(), all.slice(0, 9), new Set())).toEqual([]);
  });
});

describe('what a restart repairs', () => {
  test('containers without a row are orphans; rows tell what to do with theirs', () => {
    const rows = [
      replica(1),
      replica(2, { state: 'starting' }),
      replica(3, { state: 'draining' }),
      replica(4),
      replica(5),
    ];
    const containers = ['c1', 'c2', 'c3', 'c5', 'stray'].map((id) => ({
      id,
      name: id,
      labels: {},
      running: id !== 'c5',
    }));
    const repair = planRepair(rows, containers);
    expect(repair.orphans).toEqual(['stray']);
    expect(repair.discard.map((row) => row.slot)).toEqual([2]);
    expect(repair.drain.map((row) => row.slot)).toEqual([3]);
    expect(repair.lost.map((row) => row.slot)).toEqual([4]);
    expect(repair.stopped.map((row) => row.slot)).toEqual([5]);
  });
});

test('the socket table of the kernel is read with its byte order', () => {
  const text = [
    '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode',
    '   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1 0 100 0 0 10 0',
    '   1: 0100D00A:C350 0200D00A:1F90 01 00000000:00000000 00:00000000 00000000     0        0 2 1 0 20 4 30 10 -1',
    '   2: 00000000000000000000000000000000:0BB8 00000000000000000000000000000000:0000 0A 0:0 00:0 0 0 0 3 1 0',
    '   3: 0000000000000000FFFF00000100D00A:C351 0000000000000000FFFF00000200D00A:1F90 01 0:0 00:0 0 0 0 4 1 0',
    '',
  ].join('\n');
  expect(parseTcpTable(text)).toEqual([
    { localIp: '127.0.0.1', localPort: 8080, remoteIp: '0.0.0.0', remotePort: 0, state: 10 },
    { localIp: '10.208.0.1', localPort: 50_000, remoteIp: '10.208.0.2', remotePort: 8080, state: 1 },
    { localIp: '::', localPort: 3000, remoteIp: '::', remotePort: 0, state: 10 },
    { localIp: '10.208.0.1', localPort: 50_001, remoteIp: '10.208.0.2', remotePort: 8080, state: 1 },
  ]);
});

test('builds of ended operations are stray, those of open ones are not', () => {
  const names = ['berth/i/shop/web:op_1', 'berth/i/shop/web:op_2', 'berth/i/shop/api:op_12'];
  expect(strayBuilds(names, ['op_2'])).toEqual(['berth/i/shop/web:op_1', 'berth/i/shop/api:op_12']);
});
