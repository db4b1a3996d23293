import { invalidInput } from '#kernel/errors';

/** What the rules are made of. */
export interface FirewallSpec {
  /** Prefix of the names of berth's own chains, such as `BERTH`. */
  chains: string;
  /** What the names of berth's bridge interfaces begin with, such as `brth`. */
  bridges: string;
  /** TCP ports of the host that containers may use: the entry points, so that apps can call public URLs. */
  entryPorts: number[];
  /** The host's name servers (IPv4): containers ask them, even when one is the host itself or link-local. */
  nameservers: string[];
}

export type Family = 'ipv4' | 'ipv6';

/** Where clouds answer with the credentials of the machine: all link-local addresses, and those of Azure and Alibaba. */
const METADATA = ['169.254.0.0/16', '168.63.129.16/32', '100.100.100.200/32'];
/** Where build steps run. */
const DEFAULT_BRIDGE = 'docker0';

export const inputChain = (spec: FirewallSpec): string => `${spec.chains}-INPUT`;
export const forwardChain = (spec: FirewallSpec): string => `${spec.chains}-FORWARD`;

/** Everything that ends up in a rule is of a form that can't be anything else. */
export const assertSpec = (spec: FirewallSpec): void => {
  const { chains, bridges, entryPorts, nameservers } = spec;
  if (!/^[A-Z][A-Z0-9-]{0,18}$/.test(chains)) throw invalidInput(`"${chains}" is no name for chains`, 'such as BERTH');
  if (!/^[a-z][a-z0-9-]{0,13}$/.test(bridges)) throw invalidInput(`"${bridges}" is no bridge prefix`, 'such as brth');
  const wrongPort = entryPorts.find((port) => !Number.isInteger(port) || port < 1 || port > 65_535);
  if (wrongPort !== undefined) throw invalidInput(`${wrongPort} is no port`, 'use 1 to 65535');
  const wrongServer = nameservers.find((address) => !/^\d{1,3}(\.\d{1,3}){3}$/.test(address));
  if (wrongServer !== undefined) throw invalidInput(`"${wrongServer}" is no IPv4 address`, 'such as 10.0.0.2');
};

const interfaces = (spec: FirewallSpec): string[] => [`${spec.bridges}+`, DEFAULT_BRIDGE];

/** The rules of our own chains, in iptables' own words. */
export const chainRules = (spec: FirewallSpec, family: Family): string[] => {
  const input = inputChain(spec);
  const forward = forwardChain(spec);
  // The host's answers to its own probes come in as ESTABLISHED.
  const established = `-A ${input} -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT`;
  // berth's networks have no IPv6: whatever comes from them was crafted.
  if (family === 'ipv6') return [established, `-A ${input} -j REJECT`];
  return [
    established,
    ...nameServerRules(spec, input, 'ACCEPT'),
    ...METADATA.map((network) => `-A ${input} -d ${network} -j REJECT`),
    ...spec.entryPorts.map((port) => `-A ${input} -p tcp -m tcp --dport ${port} -j ACCEPT`),
    `-A ${input} -j REJECT`,
    ...nameServerRules(spec, forward, 'RETURN'),
    ...METADATA.map((network) => `-A ${forward} -d ${network} -j REJECT`),
    // Steps of different builds are neighbours there.
    `-A ${forward} -i ${DEFAULT_BRIDGE} -o ${DEFAULT_BRIDGE} -m conntrack --ctstate NEW -j REJECT`,
  ];
};

const nameServerRules = ({ nameservers }: FirewallSpec, chain: string, target: string): string[] =>
  nameservers.flatMap((address) =>
    ['udp', 'tcp'].map(
      (protocol) => `-A ${chain} -d ${address}/32 -p ${protocol} -m ${protocol} --dport 53 -j ${target}`,
    ),
  );

/** Names of the chains that this family has. */
export const chainNames = (spec: FirewallSpec, family: Family): string[] =>
  family === 'ipv6' ? [inputChain(spec)] : [inputChain(spec), forwardChain(spec)];

/** What is in the filter now: `iptables -S` without a chain, line by line. */
export type Listing = string[];

/** The lines with which the built-in chains lead into ours, as listed. */
export const jumpsIn = (spec: FirewallSpec, listing: Listing): string[] =>
  listing.filter((line) => line.startsWith('-A ') && [inputChain(spec), forwardChain(spec)].includes(targetOf(line)));

const targetOf = (line: string): string => / -j (\S+)/.exec(line)?.[1] ?? '';

/** The jumps as they must be. Docker's own chain for this comes first in FORWARD, and survives its restarts. */
export const wantedJumps = (spec: FirewallSpec, family: Family, listing: Listing): string[] => {
  const into = (parent: string, chain: string): string[] =>
    interfaces(spec).map((name) => `-A ${parent} -i ${name} -j ${chain}`);
  const input = into('INPUT', inputChain(spec));
  if (family === 'ipv6') return input;
  return [...input, ...into(listing.includes('-N DOCKER-USER') ? 'DOCKER-USER' : 'FORWARD', forwardChain(spec))];
};

/** Input for `iptables-restore --noflush`: replaces our chains and jumps in one commit, whatever was there of them. */
export const ensureScript = (spec: FirewallSpec, family: Family, listing: Listing): string =>
  script([
    ...chainNames(spec, family).map((chain) => `:${chain} - [0:0]`),
    ...jumpsIn(spec, listing).map((line) => line.replace(/^-A /, '-D ')),
    ...chainRules(spec, family),
    ...wantedJumps(spec, family, listing).map((line) => line.replace(/^-A (\S+)/, '-I $1 1')),
  ]);

/** Takes our chains and jumps away; undefined when there are none. */
export const removeScript = (spec: FirewallSpec, family: Family, listing: Listing): string | undefined => {
  const present = chainNames(spec, family).filter((chain) => listing.includes(`-N ${chain}`));
  if (present.length === 0) return undefined;
  return script([
    ...jumpsIn(spec, listing).map((line) => line.replace(/^-A /, '-D ')),
    ...present.map((chain) => `-F ${chain}`),
    ...present.map((chain) => `-X ${chain}`),
  ]);
};

const script = (lines: string[]): string => ['*filter', ...lines, 'COMMIT', ''].join('\n');

/** What is missing in the filter, in words; empty when all is there. */
export const missingRules = (spec: FirewallSpec, family: Family, listing: Listing): string[] => {
  const jumps = wantedJumps(spec, family, listing).filter((line) => !listing.includes(line));
  const chains = chainNames(spec, family).filter((chain) => {
    const own = (lines: string[]): number => lines.filter((line) => line.startsWith(`-A ${chain} `)).length;
    return own(listing) !== own(chainRules(spec, family));
  });
  return [...jumps, ...chains.map((chain) => `the rules of ${chain}`)];
};
