import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import type { Service } from '#modules/services';
import { to } from '../locations.ts';
import { useMay } from '../session/session.ts';
import { Button } from '../ui/button.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { Field, Input, Select } from '../ui/field.tsx';
import { Card, Notice } from '../ui/layout.tsx';
import { ServiceFrame, type ServicePath } from './head.tsx';
import { comparisonRead } from './reads.ts';
import {
  changesOf,
  conflictsOf,
  SETTINGS,
  typedOver,
  valuesOf,
  withEdit,
  type Edits,
  type SettingKey,
} from './setting-values.ts';
import { changeOf, deletionOf } from './verbs.ts';

const SettingsPage = (path: ServicePath) => (
  <ServiceFrame {...path}>
    {(service) => (
      <div className="stack wide">
        <SettingsForm service={service} />
        {service.live_release !== null && <StartCommand service={service} live={service.live_release} />}
        <Deletion service={service} />
      </div>
    )}
  </ServiceFrame>
);

const SettingsForm = ({ service }: { service: Service }) => {
  const may = useMay();
  const [edits, setEdits] = useState<Edits>({});
  const [saving, setSaving] = useState(false);
  const current = valuesOf(service);
  const values = typedOver(current, edits);
  const settings = changesOf(current, values);
  const changed = Object.keys(settings).length > 0;
  const wrong = SETTINGS.some(({ key, check }) => check(values[key]) !== undefined);
  const readOnly = !may('deploy') || !may('scale');
  const set = (key: SettingKey, typed: string): void => setEdits(withEdit(edits, key, typed, current));
  const conflicts = conflictsOf(current, edits);
  return (
    <Card title="Settings">
      <form
        className="settings"
        onSubmit={(event) => {
          event.preventDefault();
          if (changed && !wrong) setSaving(true);
        }}
      >
        {conflicts.length > 0 && (
          <div className="across" role="status">
            <Notice tone="warn">
              <strong>Somebody else has changed this service while you edited it.</strong>
              <ul>
                {conflicts.map((key) => (
                  <li key={key}>
                    {labelOf(key)} is now <code>{current[key] === '' ? 'empty' : current[key]}</code>; yours is{' '}
                    <code>{values[key] === '' ? 'empty' : values[key]}</code>, and would replace it.
                  </li>
                ))}
              </ul>
              <Button slim onClick={() => setEdits(without(edits, conflicts))}>
                Take theirs
              </Button>
            </Notice>
          </div>
        )}
        {SETTINGS.map(({ key, label, hint, check }) => (
          <Field key={key} label={label} hint={hint} error={check(values[key])}>
            {(wired) => (
              <Input
                {...wired}
                mono={key === 'health_path'}
                inputMode={key === 'health_path' ? 'text' : 'decimal'}
                readOnly={readOnly}
                value={values[key]}
                onChange={(event) => set(key, event.target.value)}
              />
            )}
          </Field>
        ))}
        <Field label={PROTOCOL} hint="h2c is HTTP/2 without TLS, for gRPC.">
          {(wired) => (
            <Select
              {...wired}
              disabled={readOnly}
              value={values.protocol}
              options={[
                { value: 'http', label: 'http' },
                { value: 'h2c', label: 'h2c' },
              ]}
              onChange={(event) => set('protocol', event.target.value)}
            />
          )}
        </Field>
        {!readOnly && (
          <div className="row across">
            <Button type="submit" look="primary" disabled={!changed || wrong}>
              Review changes
            </Button>
            {changed && (
              <Button look="quiet" onClick={() => setEdits({})}>
                Discard
              </Button>
            )}
          </div>
        )}
      </form>
      {saving && (
        <Confirm
          title={`Change ${service.name}`}
          verb="Apply"
          variant={JSON.stringify(settings)}
          {...changeOf(service, settings)}
          onClose={() => setSaving(false)}
        >
          <p className="quiet">New replicas start with these settings beside the old ones, which then go.</p>
        </Confirm>
      )}
    </Card>
  );
};

const PROTOCOL = 'Protocol to the app';

const labelOf = (key: SettingKey): string => SETTINGS.find((setting) => setting.key === key)?.label ?? PROTOCOL;

const without = (edits: Edits, keys: readonly SettingKey[]): Edits =>
  Object.fromEntries(Object.entries(edits).filter(([key]) => !keys.includes(key as SettingKey)));

/** It belongs to the source, so that each release has its own; here is where to find it. */
const StartCommand = ({ service, live }: { service: Service; live: string }) => {
  const { project, name } = service;
  const { data } = useQuery(comparisonRead({ project, service: name, release: live, against: live }));
  const start = data?.to.start_command ?? null;
  return (
    <Card title="Start command">
      <div className="stack tight">
        {data !== undefined && (
          <p>{start === null ? 'The image says itself what it starts with.' : <code>{start.join(' ')}</code>}</p>
        )}
        <p className="quiet">
          Each release has its own. Set <code>start</code> below <code>[build]</code> in the source’s{' '}
          <code>berth.toml</code>, or the variable <code>BERTH_START</code> in the{' '}
          <Link href={to('env', { project })}>environment</Link>, and deploy.
        </p>
      </div>
    </Card>
  );
};

const Deletion = ({ service }: { service: Service }) => {
  const may = useMay();
  const [asking, setAsking] = useState(false);
  const [, navigate] = useLocation();
  if (!may('deploy')) return null;
  const { preview, run } = deletionOf(service);
  return (
    <Card title="Delete this service">
      <div className="row wrap">
        <p className="quiet grow">Its replicas, releases and logs go with it. Datastores of the project stay.</p>
        <Button look="danger" icon="trash" onClick={() => setAsking(true)}>
          Delete {service.name}
        </Button>
      </div>
      {asking && (
        <Confirm
          title={`Delete ${service.name}`}
          verb={`Delete ${service.name}`}
          name={service.name}
          preview={preview}
          run={async () => {
            await run();
            navigate(to('project', { project: service.project }));
          }}
          onClose={() => setAsking(false)}
        />
      )}
    </Card>
  );
};

export default SettingsPage;
