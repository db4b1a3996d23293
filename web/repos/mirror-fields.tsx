import { CodeBlock } from '../ui/code.tsx';
import { Field, Input } from '../ui/field.tsx';

interface Address {
  address: string;
  user: string;
  password: string;
}

/** Where a mirror comes from, and what it signs in with. */
export const MirrorAddress = ({ value, onChange }: { value: Address; onChange: (value: Address) => void }) => (
  <>
    <Field label="Address" hint="https, of a repository at GitHub, GitLab, Gitea, Forgejo or any git server.">
      {(wired) => (
        <Input
          {...wired}
          mono
          required
          inputMode="url"
          placeholder="https://git.example.com/team/web.git"
          value={value.address}
          onChange={(event) => onChange({ ...value, address: event.target.value })}
        />
      )}
    </Field>
    <div className="two-fields">
      <Field label="User, if it is private">
        {(wired) => (
          <Input {...wired} value={value.user} onChange={(event) => onChange({ ...value, user: event.target.value })} />
        )}
      </Field>
      <Field label="Password or access token" hint="Stored encrypted, never shown.">
        {(wired) => (
          <Input
            {...wired}
            type="password"
            autoComplete="new-password"
            value={value.password}
            onChange={(event) => onChange({ ...value, password: event.target.value })}
          />
        )}
      </Field>
    </div>
  </>
);

/** What to enter over there, so that pushes arrive at once. */
export const WebhookHelp = ({ url }: { url: string }) => (
  <div className="stack tight">
    <p>
      Enter this address as a webhook for pushes over there, with the secret. Without it berth looks for changes from
      time to time.
    </p>
    <CodeBlock code={url} label="Copy the webhook address" />
  </div>
);
