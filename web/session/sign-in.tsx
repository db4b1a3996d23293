import { useEffect, useRef, useState } from 'react';
import { Redirect, useLocation, useSearch } from 'wouter';
import { asApiError } from '../api.ts';
import { useAction } from '../ui/action.ts';
import { Button } from '../ui/button.tsx';
import { CodeBlock } from '../ui/code.tsx';
import { ErrorLine } from '../ui/error-card.tsx';
import { Field, Input } from '../ui/field.tsx';
import { Icon, Mark } from '../ui/icons.tsx';
import { Notice, PageHead } from '../ui/layout.tsx';
import { useNow } from '../ui/time.tsx';
import { safePath, signIn, useSessionRead } from './session.ts';

const SignIn = () => {
  const search = new URLSearchParams(useSearch());
  const next = safePath(search.get('next'));
  const { data: session } = useSessionRead();
  if (session !== null && session !== undefined) return <Redirect to={next} replace />;
  return (
    <main className="sign-in">
      <div className="sign-in-box">
        <div className="row brand">
          <Mark size={28} />
          <span>berth</span>
        </div>
        <PageHead title="Sign in" below={<>to {location.host}</>} />
        {search.get('ended') !== null && (
          <Notice>Your session has ended. Sign in, and you are back where you were.</Notice>
        )}
        {isSecureContext ? <Form next={next} /> : <Insecure />}
      </div>
    </main>
  );
};

const Form = ({ next }: { next: string }) => {
  const [token, setToken] = useState('');
  const field = useRef<HTMLInputElement>(null);
  const { busy, error, run } = useAction();
  const [, navigate] = useLocation();
  const failure = error === undefined ? undefined : asApiError(error);
  useEffect(() => {
    if (failure !== undefined) field.current?.select();
  }, [failure]);
  const submit = (): Promise<void> =>
    run(async () => {
      await signIn(token.trim());
      navigate(next, { replace: true });
    });
  return (
    // By POST: if the script were not there, the token must not get into the address.
    <form
      method="post"
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <Field
        label="Token"
        hint="Kept by this server in a session; the browser only gets a cookie."
        error={failure?.status === 401 ? 'This token is unknown, revoked or expired. Was it copied whole?' : undefined}
      >
        {(wired) => (
          <Input
            {...wired}
            ref={field}
            mono
            type="password"
            name="token"
            autoComplete="current-password"
            placeholder="brt_…"
            autoFocus
            required
            value={token}
            onChange={(event) => setToken(event.target.value)}
          />
        )}
      </Field>
      {failure?.status === 429 && <TooMany until={failure.retryAt} />}
      {failure !== undefined && failure.status !== 401 && failure.status !== 429 && <ErrorLine error={failure} />}
      <Button type="submit" look="primary" busy={busy}>
        Sign in
      </Button>
      <details className="small">
        <summary>Where do I get a token?</summary>
        <div className="stack tight">
          <p className="quiet">The first one was written when the server was installed; on the server, as root:</p>
          <CodeBlock code="cat /var/lib/berth/admin-token" />
          <p className="quiet">Otherwise ask whoever runs this server to mint one for you.</p>
        </div>
      </details>
    </form>
  );
};

/** The server looks at no further wrong token for a while: how long. The seconds are not announced one by one. */
const TooMany = ({ until }: { until: number | undefined }) => {
  const left = Math.ceil(((until ?? 0) - useNow()) / 1000);
  return (
    <div className="notice warn">
      <Icon name="warn" />
      <div className="grow">
        <strong role="alert">Too many wrong tokens came from your address.</strong>
        <p className="quiet">{left > 0 ? `Wait ${left} s, then try again.` : 'You can try again now.'}</p>
      </div>
    </div>
  );
};

/** Browsers keep the session's cookie of https and of their own machine only, and the token would travel in the clear. */
const Insecure = () => {
  const port = location.port === '' ? '80' : location.port;
  return (
    <div className="stack">
      <Notice tone="warn">
        <strong>This connection is not encrypted.</strong>
        <p>
          A token typed here could be read on its way, and browsers keep no session. Open this server by https, or
          through a tunnel:
        </p>
      </Notice>
      <CodeBlock code={`ssh -L 4400:127.0.0.1:${port} root@${location.hostname}`} />
      <p className="quiet">
        Then open <code>http://localhost:4400</code>.
      </p>
    </div>
  );
};

export default SignIn;
