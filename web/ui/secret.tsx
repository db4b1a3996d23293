import { CopyButton } from './code.tsx';
import { Icon } from './icons.tsx';

/** Something that is shown this once, and never again. */
export const SecretOnce = ({ secret, label, children }: { secret: string; label: string; children?: string }) => (
  <section className="secret-once" aria-label={label}>
    <div className="row">
      <Icon name="token" />
      <strong className="grow">{label}</strong>
    </div>
    <div className="code-block">
      <pre tabIndex={0}>
        <code>{secret}</code>
      </pre>
      <CopyButton text={secret} label={`Copy: ${label}`} />
    </div>
    <p className="small quiet">{children ?? 'Keep it now: it is shown this once, and can’t be read again.'}</p>
  </section>
);
