import type { ReactNode } from 'react';

/** What a state means for whoever looks: told by colour and by shape. */
export type Tone = 'ok' | 'busy' | 'warn' | 'bad' | 'idle' | 'none';

const SHAPES: Record<Tone, ReactNode> = {
  ok: <circle cx="5" cy="5" r="4" fill="currentColor" />,
  busy: (
    <circle
      className="turning"
      cx="5"
      cy="5"
      r="3.5"
      fill="none"
      stroke="currentColor"
      strokeWidth="2"
      strokeDasharray="15 7"
    />
  ),
  warn: <path d="M5 .8 9.6 9H.4z" fill="currentColor" />,
  bad: <path d="m1.5 1.5 7 7m0-7-7 7" stroke="currentColor" strokeWidth="2.2" strokeLinecap="round" />,
  idle: <circle cx="5" cy="5" r="3.3" fill="none" stroke="currentColor" strokeWidth="1.6" />,
  none: <circle cx="5" cy="5" r="3.3" fill="none" stroke="currentColor" strokeWidth="1.4" strokeDasharray="1.6 1.85" />,
};

/** The shape alone; what it says must stand in words beside it. */
export const Glyph = ({ tone, size = 10 }: { tone: Tone; size?: number }) => (
  <svg className={`glyph ${tone}`} width={size} height={size} viewBox="0 0 10 10" aria-hidden="true">
    {SHAPES[tone]}
  </svg>
);

export const Status = ({ tone, children }: { tone: Tone; children: ReactNode }) => (
  <span className="status">
    <Glyph tone={tone} />
    {children}
  </span>
);

export const Badge = ({ tone = 'idle', children }: { tone?: Tone; children: ReactNode }) => (
  <span className={`badge ${tone}`}>{children}</span>
);

export const Spinner = ({ size = 14 }: { size?: number }) => (
  <svg className="turning" width={size} height={size} viewBox="0 0 14 14" fill="none" aria-hidden="true">
    <circle cx="7" cy="7" r="5.5" stroke="currentColor" strokeWidth="2" strokeOpacity="0.25" />
    <path d="M7 1.500A5.5 5.5 0 0 1 12.5 7" stroke="currentColor" strokeWidth="2" strokeLinecap="round" />
  </svg>
);

export type SlotState = 'live' | 'starting' | 'draining' | 'exited' | 'free';

/** The replicas of a service as a quay with a slot for each. `label` says the same in words. */
export const Quay = ({ slots, label }: { slots: readonly SlotState[]; label: string }) => (
  <span className="quay" role="img" aria-label={label} title={label}>
    {slots.slice(0, MOST_SLOTS).map((slot, index) => (
      // Slots have no other name than their place.
      // oxlint-disable-next-line react/no-array-index-key
      <i key={index} className={slot} />
    ))}
  </span>
);

const MOST_SLOTS = 16;
