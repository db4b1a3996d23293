import { reconnect, useConnection } from '../live.ts';
import { Glyph } from '../ui/status.tsx';
import { useNow } from '../ui/time.tsx';

/** Whether what is shown is live. Silent while all is well; a lost connection says when it is tried again. */
export const Connection = ({ brief = false }: { brief?: boolean }) => {
  const connection = useConnection();
  const now = useNow();
  if (connection.state === 'idle') return null;
  if (connection.state === 'lost') {
    const seconds = Math.max(0, Math.ceil((connection.retryAt - now) / 1000));
    return (
      <button type="button" className="connection lost" onClick={reconnect} title="Try to reach the server now">
        <Glyph tone="warn" />
        <span role="status">Offline</span>
        {!brief && <span aria-hidden="true">{seconds === 0 ? '…' : `${seconds} s`}</span>}
      </button>
    );
  }
  return (
    <span className="connection" title={connection.state === 'live' ? 'What you see is live' : 'Connecting'}>
      <Glyph tone={connection.state === 'live' ? 'ok' : 'busy'} size={8} />
      <span role="status">{connection.state === 'live' ? 'Live' : 'Connecting'}</span>
    </span>
  );
};
