import type { ReactNode } from 'react';
import { asApiError } from '../api.ts';
import { Button } from './button.tsx';
import { Copyable, LogTail } from './code.tsx';
import { Icon } from './icons.tsx';
import { Badge } from './status.tsx';
import { capitalised } from './format.ts';

interface ErrorCardProps {
  error: unknown;
  /** Given when trying again may help. */
  onRetry?: () => void;
  /** Further ways on, beside the hint. */
  actions?: ReactNode;
}

/** A failure: its cause, the evidence, and the next step. Everything that the API says of it. */
export const ErrorCard = ({ error, onRetry, actions }: ErrorCardProps) => {
  const { code, message, hint, log_tail, requestId } = asApiError(error);
  return (
    <section className="error-card" role="alert">
      <div className="cause">
        <Icon name="warn" />
        <div className="stack tight grow">
          <strong>{capitalised(message)}</strong>
          <span className="row wrap">
            <Badge tone="bad">{code}</Badge>
            {requestId !== undefined && <Copyable text={requestId} />}
          </span>
        </div>
      </div>
      {log_tail !== undefined && log_tail !== '' && <LogTail text={log_tail} label="Last lines of the log" />}
      <div className="next">
        <p className="grow">
          <strong>Next: </strong>
          {capitalised(hint.replace(/\blog_tail\b/g, 'the lines above'))}
        </p>
        {actions}
        {onRetry !== undefined && (
          <Button icon="restart" onClick={onRetry}>
            Try again
          </Button>
        )}
      </div>
    </section>
  );
};

/** A failure within a form or a dialog, in two lines. */
export const ErrorLine = ({ error }: { error: unknown }) => {
  const { message, hint } = asApiError(error);
  return (
    <div className="notice warn" role="alert">
      <Icon name="warn" />
      <div className="grow">
        <strong>{capitalised(message)}</strong>
        <p className="quiet">{capitalised(hint)}</p>
      </div>
    </div>
  );
};

/** The API's messages begin in lower case, to stand behind a code. */
