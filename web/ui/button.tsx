import type { ButtonHTMLAttributes, ReactNode } from 'react';
import { Link } from 'wouter';
import { Icon, type IconName } from './icons.tsx';
import { Spinner } from './status.tsx';

type Look = 'primary' | 'plain' | 'quiet' | 'danger';

interface LookProps {
  look?: Look;
  icon?: IconName;
  slim?: boolean;
}

interface ButtonProps extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'className'>, LookProps {
  /** Says that what it did is under way; it can't be pressed meanwhile. */
  busy?: boolean;
  /** For the one button that destroys, in a dialog. */
  filled?: boolean;
}

const classOf = ({ look = 'plain', slim = false }: LookProps, more = ''): string =>
  ['btn', look === 'plain' ? '' : look, slim ? 'slim' : '', more].filter((part) => part !== '').join(' ');

export const Button = ({ look, icon, slim, busy = false, filled, children, ...rest }: ButtonProps) => (
  <button
    type="button"
    {...rest}
    className={classOf({ ...(look && { look }), ...(slim && { slim }) }, filled === true ? 'filled' : '')}
    disabled={rest.disabled === true || busy}
    aria-busy={busy || undefined}
  >
    {busy ? <Spinner /> : icon !== undefined && <Icon name={icon} />}
    {children}
  </button>
);

interface IconButtonProps extends Omit<ButtonProps, 'children' | 'icon'> {
  icon: IconName;
  /** What it does, in words. */
  label: string;
}

export const IconButton = ({
  icon,
  label,
  look = 'quiet',
  slim,
  busy = false,
  filled: _filled,
  ...rest
}: IconButtonProps) => (
  <button
    type="button"
    aria-label={label}
    title={label}
    {...rest}
    className={classOf({ look, ...(slim && { slim }) }, 'icon')}
    disabled={rest.disabled === true || busy}
  >
    {busy ? <Spinner /> : <Icon name={icon} />}
  </button>
);

interface LinkButtonProps extends LookProps {
  /** A path of this page, or an address elsewhere, which opens in a tab of its own. */
  to: string;
  children: ReactNode;
}

export const LinkButton = ({ to, look, icon, slim, children }: LinkButtonProps) => {
  const className = classOf({ ...(look && { look }), ...(slim && { slim }) });
  const content = (
    <>
      {icon !== undefined && <Icon name={icon} />}
      {children}
    </>
  );
  if (/^https?:/.test(to))
    return (
      <a href={to} target="_blank" rel="noreferrer" className={className}>
        {content}
      </a>
    );
  return (
    <Link href={to} className={className}>
      {content}
    </Link>
  );
};
