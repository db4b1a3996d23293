import { useEffect, type CSSProperties, type ReactNode } from 'react';
import { Link } from 'wouter';
import { Icon, type IconName } from './icons.tsx';

interface PageHeadProps {
  title: string;
  /** Beside the title: a status, a badge. */
  beside?: ReactNode;
  /** Below the title: what it is, where it lives. */
  below?: ReactNode;
  crumbs?: readonly { label: string; to: string }[];
  actions?: ReactNode;
  /** Which of its pages this is: for the title of the tab. */
  section?: string;
}

/** The head of every page: one h1, and the title of the tab. */
export const PageHead = ({ title, beside, below, crumbs = [], actions, section }: PageHeadProps) => {
  const names = [
    ...(section === undefined ? [] : [section]),
    title,
    ...crumbs.map(({ label }) => label).reverse(),
    'berth',
  ].join(' · ');
  useEffect(() => {
    document.title = names;
  }, [names]);
  return (
    <div className="page-head">
      <div className="grow">
        {crumbs.length > 0 && (
          <nav aria-label="Breadcrumbs">
            <ol className="crumbs">
              {crumbs.map(({ label, to }) => (
                <li key={to}>
                  <Link href={to}>{label}</Link>
                </li>
              ))}
            </ol>
          </nav>
        )}
        <div className="title">
          <h1 tabIndex={-1}>{title}</h1>
          {beside}
        </div>
      </div>
      {actions !== undefined && <div className="row wrap">{actions}</div>}
      {below !== undefined && <div className="below">{below}</div>}
    </div>
  );
};

interface CardProps {
  title?: string;
  actions?: ReactNode;
  /** Without padding, for tables and lists. */
  flush?: boolean;
  children: ReactNode;
}

export const Card = ({ title, actions, flush = false, children }: CardProps) => (
  <section className="card" {...(title !== undefined && { 'aria-label': title })}>
    {title !== undefined && (
      <div className="card-head">
        <h2 className="grow">{title}</h2>
        {actions}
      </div>
    )}
    {flush ? children : <div className="card-body">{children}</div>}
  </section>
);

/** Names and values. */
export const Facts = ({ facts }: { facts: readonly (readonly [name: string, value: ReactNode])[] }) => (
  <dl className="facts">
    {facts.map(([name, value]) => (
      <div key={name} style={CONTENTS}>
        <dt>{name}</dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
);

const CONTENTS: CSSProperties = { display: 'contents' };

/** Nothing here yet, and what to do about it. */
export const Empty = ({
  icon,
  title,
  children,
  action,
}: {
  icon: IconName;
  title: string;
  children?: ReactNode;
  action?: ReactNode;
}) => (
  <div className="empty">
    <Icon name={icon} size={28} />
    <h2>{title}</h2>
    {children !== undefined && <p>{children}</p>}
    {action}
  </div>
);

/** Holds the place of what is being loaded. */
export const Skeleton = ({ width = '100%', height = '1.25rem' }: { width?: string; height?: string }) => (
  <span className="skeleton" style={{ width, height }} aria-hidden="true" />
);

/** Holds the place of a whole page or card. */
export const SkeletonLines = ({ lines = 3 }: { lines?: number }) => (
  <div className="stack tight" role="status" aria-label="Loading">
    {Array.from({ length: lines }, (_none, index) => (
      // oxlint-disable-next-line react/no-array-index-key
      <Skeleton key={index} width={`${92 - ((index * 23) % 40)}%`} />
    ))}
  </div>
);

/** Between 0 and 1. */
export const Progress = ({ share, label }: { share: number; label: string }) => (
  <div
    className="progress"
    role="progressbar"
    aria-label={label}
    aria-valuemin={0}
    aria-valuemax={100}
    aria-valuenow={Math.round(share * 100)}
  >
    <i style={{ width: `${Math.min(100, share * 100)}%` }} />
  </div>
);

export const Notice = ({ tone = 'info', children }: { tone?: 'info' | 'warn'; children: ReactNode }) => (
  <div className={`notice ${tone}`}>
    <Icon name={tone} />
    <div className="grow">{children}</div>
  </div>
);

export const Kbd = ({ children }: { children: ReactNode }) => <kbd className="kbd">{children}</kbd>;

/** Sections of a page that have addresses of their own. */
export const LinkTabs = ({
  label,
  tabs,
  current,
}: {
  label: string;
  tabs: readonly { to: string; label: string }[];
  current: string;
}) => (
  <nav className="tabs" aria-label={label}>
    {tabs.map((tab) => (
      <Link key={tab.to} href={tab.to} aria-current={tab.to === current ? 'page' : undefined}>
        {tab.label}
      </Link>
    ))}
  </nav>
);
