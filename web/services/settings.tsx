import { useState } from 'react';
import { useLocation } from 'wouter';
import type { Service, Settings } from '#modules/services';
import { to } from '../locations.ts';
import { useMay } from '../session/session.ts';
import { Button } from '../ui/button.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { Field, Input, Select } from '../ui/field.tsx';
import { Card } from '../ui/layout.tsx';
import { ServiceFrame, type ServicePath } from './head.tsx';
import { changeOf, deletionOf } from './verbs.ts';

const SettingsPage = (path: ServicePath) => (
  <ServiceFrame {...path}>
    {(service) => (
      <div className="stack wide">
        <SettingsForm key={service.updated_at} service={service} />
        <Deletion service={service} />
      </div>
    )}
  </ServiceFrame>
);

interface Setting {
  key: 'health_path' | 'health_timeout_seconds' | 'drain_seconds' | 'memory_mb' | 'cpus';
  label: string;
  hint: string;
  /** What is wrong with the text; undefined when it will do. */
  check: (text: string) => string | undefined;
}

const number =
  (from: number, to: number, whole = true) =>
  (text: string): string | undefined => {
    const value = Number(text);
    const fits = text.trim() !== '' && value >= from && value <= to && (!whole || Number.isInteger(value));
    return fits ? undefined : `a ${whole ? 'whole ' : ''}number from ${from} to ${to}`;
  };

const SETTINGS: readonly Setting[] = [
  {
    key: 'health_path',
    label: 'Health path',
    hint: 'Must answer 2xx or 3xx before a release takes traffic. Empty: it only has to accept connections.',
    check: (text) =>
      text === '' || /^\/[\x21-\x7e]{0,255}$/.test(text) ? undefined : 'a path that begins with /, without spaces',
  },
  {
    key: 'health_timeout_seconds',
    label: 'Health timeout, in seconds',
    hint: 'How long a new replica may take.',
    check: number(1, 600),
  },
  {
    key: 'drain_seconds',
    label: 'Drain, in seconds',
    hint: 'How long requests under way have to end.',
    check: number(0, 300),
  },
  {
    key: 'memory_mb',
    label: 'Memory of a replica, in MiB',
    hint: 'Beyond it the replica is killed and started anew.',
    check: number(16, 1_048_576),
  },
  {
    key: 'cpus',
    label: 'CPU of a replica, in cores',
    hint: 'Parts of a core too: 0.5.',
    check: number(0.05, 256, false),
  },
];

type Values = Record<Setting['key'] | 'protocol', string>;

const valuesOf = (service: Service): Values => ({
  health_path: service.health_path ?? '',
  health_timeout_seconds: String(service.health_timeout_seconds),
  drain_seconds: String(service.drain_seconds),
  memory_mb: String(service.memory_mb),
  cpus: String(service.cpus),
  protocol: service.protocol,
});

const changesOf = (before: Values, now: Values): Settings => {
  const settings: Record<string, unknown> = {};
  for (const key of Object.keys(now) as (keyof Values)[]) {
    if (now[key] === before[key]) continue;
    if (key === 'protocol') settings[key] = now[key];
    else if (key === 'health_path') settings[key] = now[key] === '' ? null : now[key];
    else settings[key] = Number(now[key]);
  }
  return settings;
};

const SettingsForm = ({ service }: { service: Service }) => {
  const may = useMay();
  const before = valuesOf(service);
  const [values, setValues] = useState(before);
  const [saving, setSaving] = useState(false);
  const settings = changesOf(before, values);
  const changed = Object.keys(settings).length > 0;
  const wrong = SETTINGS.some(({ key, check }) => check(values[key]) !== undefined);
  const readOnly = !may('deploy') || !may('scale');
  return (
    <Card title="Settings">
      <form
        className="settings"
        onSubmit={(event) => {
          event.preventDefault();
          if (changed && !wrong) setSaving(true);
        }}
      >
        {SETTINGS.map(({ key, label, hint, check }) => (
          <Field key={key} label={label} hint={hint} error={check(values[key])}>
            {(wired) => (
              <Input
                {...wired}
                mono={key === 'health_path'}
                inputMode={key === 'health_path' ? 'text' : 'decimal'}
                readOnly={readOnly}
                value={values[key]}
                onChange={(event) => setValues({ ...values, [key]: event.target.value })}
              />
            )}
          </Field>
        ))}
        <Field label="Protocol to the app" hint="h2c is HTTP/2 without TLS, for gRPC.">
          {(wired) => (
            <Select
              {...wired}
              disabled={readOnly}
              value={values.protocol}
              options={[
                { value: 'http', label: 'http' },
                { value: 'h2c', label: 'h2c' },
              ]}
              onChange={(event) => setValues({ ...values, protocol: event.target.value })}
            />
          )}
        </Field>
        {!readOnly && (
          <div className="row">
            <Button type="submit" look="primary" disabled={!changed || wrong}>
              Review changes
            </Button>
            {changed && (
              <Button look="quiet" onClick={() => setValues(before)}>
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
          {...changeOf(service, settings)}
          onClose={() => setSaving(false)}
        >
          <p className="quiet">New replicas start with these settings beside the old ones, which then go.</p>
        </Confirm>
      )}
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
