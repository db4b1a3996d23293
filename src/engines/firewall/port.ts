/**
 * The port to the host's packet filter. It keeps containers (of berth's networks, and build steps on Docker's default
 * bridge) off the host and off link-local addresses such as a cloud's metadata service, and build steps off each other.
 * Contract:
 * - `ensure` is idempotent, replaces its rules in one step, and never touches rules that are not its own;
 * - nothing throws because the filter is missing or forbidden: the status says so, for `berth doctor`.
 */
export interface Firewall {
  /** Makes the rules as configured, ahead of all others. Call it again whenever somebody may have flushed them. */
  ensure(): Promise<FirewallStatus>;
  /** Looks, and changes nothing. */
  status(): Promise<FirewallStatus>;
  /** Takes the rules away; idempotent. */
  remove(): Promise<FirewallStatus>;
}

export type FirewallStatus =
  | { state: 'active' }
  /** The filter works, and the rules are not (all) in it. */
  | { state: 'inactive'; reason: string; hint: string }
  /** The filter can't be used here: containers can reach the host. */
  | { state: 'unavailable'; reason: string; hint: string };
