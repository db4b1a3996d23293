import { useState } from 'react';
import type { DryRun } from '#kernel/schema';
import { ApiError } from '../api.ts';
import { Button, IconButton, LinkButton } from './button.tsx';
import { CodeBlock, Copyable } from './code.tsx';
import { Confirm } from './confirm.tsx';
import { ErrorCard } from './error-card.tsx';
import { Checkbox, Field, Input, SearchInput, Segmented, Select, TextArea } from './field.tsx';
import { Icon, type IconName } from './icons.tsx';
import { Card, Empty, Facts, Kbd, LinkTabs, Notice, PageHead, Progress, SkeletonLines } from './layout.tsx';
import { Menu } from './menu.tsx';
import { Sparkline } from './spark.tsx';
import { Badge, Quay, Status, type Tone } from './status.tsx';
import { Table } from './table.tsx';
import { Tabs } from './tabs.tsx';
import { Ago } from './time.tsx';
import { toast } from './toast.tsx';
import { VirtualList } from './virtual-list.tsx';

const TONES: readonly Tone[] = ['ok', 'busy', 'warn', 'bad', 'idle', 'none'];
const ICONS: readonly IconName[] = [
  'projects',
  'service',
  'deploy',
  'logs',
  'events',
  'operations',
  'env',
  'datastore',
  'repo',
  'token',
  'admin',
  'settings',
  'usage',
  'search',
  'restart',
  'rollback',
  'scale',
  'trash',
  'folder',
  'file',
  'download',
  'pause',
  'play',
  'link',
  'terminal',
];

const PLAN: DryRun = {
  dry_run: true,
  plan: {
    summary: 'delete service web with its replicas',
    changes: [{ action: 'delete', resource: 'service', name: 'web' }],
  },
};

const FAILURE = new ApiError(
  {
    code: 'HEALTH_CHECK_FAILED',
    message: 'the app never listened on port 8080',
    hint: 'bind 0.0.0.0:$PORT and deploy again',
    retryable: false,
    log_tail: 'listening on 127.0.0.1:3000\n<b>no markup here</b>',
  },
  422,
);

/** Every primitive on one page, to look at while working on them. Only in development. */
const Gallery = () => (
  <>
    <PageHead title="Primitives" below="Everything that pages are made of" actions={<Buttons />} />
    <div className="stack wide">
      <Card title="Status">
        <div className="row wrap">
          {TONES.map((tone) => (
            <Status key={tone} tone={tone}>
              {tone}
            </Status>
          ))}
          {TONES.map((tone) => (
            <Badge key={tone} tone={tone}>
              {tone}
            </Badge>
          ))}
          <Quay slots={['live', 'live', 'starting', 'draining', 'exited', 'free']} label="2 of 4 run" />
          <Sparkline values={[1, 3, 2, 5, null, 4, 6, 5]} label="Requests per second" />
        </div>
      </Card>
      <Card title="Icons">
        <div className="row wrap">
          {ICONS.map((name) => (
            <Icon key={name} name={name} />
          ))}
        </div>
      </Card>
      <Fields />
      <div className="columns">
        <ErrorCard error={FAILURE} onRetry={() => undefined} />
        <Card title="Words">
          <div className="stack">
            <Facts
              facts={[
                ['Id', <Copyable key="id" text="op_01jd3kq2m5abcdefghjk" />],
                ['When', <Ago key="when" at={new Date(Date.now() - 90_000).toISOString()} />],
                ['Keys', <Kbd key="keys">K</Kbd>],
              ]}
            />
            <Notice>Something worth knowing.</Notice>
            <Notice tone="warn">Something to mind.</Notice>
            <CodeBlock code={'berth deploy . -p shop -s web'} />
            <Progress share={0.4} label="Uploading" />
            <SkeletonLines />
          </div>
        </Card>
      </div>
      <Lists />
    </div>
  </>
);

const Buttons = () => {
  const [asking, setAsking] = useState(false);
  return (
    <>
      <Button look="primary" icon="deploy" onClick={() => toast('ok', 'Deployed', { to: '/', label: 'Watch' })}>
        Primary
      </Button>
      <Button>Plain</Button>
      <Button look="quiet">Quiet</Button>
      <Button look="danger" onClick={() => setAsking(true)}>
        Danger
      </Button>
      <Button busy>Busy</Button>
      <Button disabled>Disabled</Button>
      <LinkButton to="/">Link</LinkButton>
      <Menu
        items={[
          { label: 'One', onSelect: () => undefined },
          { kind: 'rule' },
          { label: 'Delete', danger: true, icon: 'trash', onSelect: () => undefined },
        ]}
        trigger={(props) => <IconButton {...props} icon="more" label="More" look="plain" />}
      />
      {asking && (
        <Confirm
          title="Delete web"
          verb="Delete web"
          name="web"
          preview={() => Promise.resolve(PLAN)}
          run={() => Promise.reject(FAILURE)}
          onClose={() => setAsking(false)}
        />
      )}
    </>
  );
};

const Fields = () => {
  const [view, setView] = useState<'a' | 'b'>('a');
  return (
    <Card title="Fields">
      <div className="settings">
        <Field label="Name" hint="Small letters and digits">
          {(wired) => <Input {...wired} defaultValue="shop" />}
        </Field>
        <Field label="Wrong" error="a whole number from 0 to 300">
          {(wired) => <Input {...wired} mono defaultValue="x" />}
        </Field>
        <Field label="Kind">
          {(wired) => <Select {...wired} options={[{ value: 'postgres', label: 'postgres' }]} />}
        </Field>
        <Field label="Text">{(wired) => <TextArea {...wired} mono defaultValue="A=1" />}</Field>
        <SearchInput label="Search" />
        <Segmented
          label="View"
          value={view}
          onChange={setView}
          options={[
            { value: 'a', label: 'Table' },
            { value: 'b', label: 'Chart' },
          ]}
        />
        <Checkbox>Take a backup first</Checkbox>
      </div>
    </Card>
  );
};

const Lists = () => (
  <>
    <LinkTabs
      label="Sections"
      current="/_ui"
      tabs={[
        { to: '/_ui', label: 'Here' },
        { to: '/', label: 'There' },
      ]}
    />
    <Tabs
      label="Parts"
      tabs={[
        { id: 'a', label: 'First', content: () => <p>The first.</p> },
        { id: 'b', label: 'Second', content: () => <p>The second.</p> },
      ]}
    />
    <Card title="Table" flush>
      <Table
        caption="Things"
        rows={['web', 'worker']}
        keyOf={(name) => name}
        columns={[
          { head: 'Name', cell: (name) => <code>{name}</code> },
          { head: 'Size', end: true, cell: () => '12 MB' },
        ]}
      />
    </Card>
    <Card title="100,000 rows" flush>
      <div style={{ height: '12rem', display: 'grid' }}>
        <VirtualList
          label="Numbers"
          count={100_000}
          rowHeight={20}
          row={(index) => <div key={index}>{index + 1}</div>}
        />
      </div>
    </Card>
    <Card>
      <Empty icon="datastore" title="No datastores yet" action={<Button look="primary">Create one</Button>}>
        Postgres, Redis or Mongo, ready in seconds.
      </Empty>
    </Card>
  </>
);

export default Gallery;
