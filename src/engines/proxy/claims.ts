import { conflict } from '#kernel/errors';

export interface HostClaims {
  /** Gives the hosts to the owner besides those it has; refuses when another owner has one of them. */
  add(owner: string, hosts: string[]): void;
  /** Leaves the owner with exactly these hosts of its own. */
  settle(owner: string, hosts: string[]): void;
  clear(): void;
}

/** Who serves which host name: two routes for one host would make Traefik choose at random. */
export const createHostClaims = (): HostClaims => {
  const owners = new Map<string, string>();
  return {
    add: (owner, hosts) => {
      const taken = hosts.find((host) => (owners.get(host) ?? owner) !== owner);
      if (taken !== undefined) {
        throw conflict(
          `the host name ${taken} is already routed to another service`,
          'choose another host name, or remove the route that has it',
        );
      }
      for (const host of hosts) owners.set(host, owner);
    },
    settle: (owner, hosts) => {
      const released = [...owners].filter(([host, of]) => of === owner && !hosts.includes(host));
      for (const [host] of released) owners.delete(host);
    },
    clear: () => owners.clear(),
  };
};

/** The hosts that a rendered file routes. */
export const hostsIn = (text: string | undefined): string[] =>
  text === undefined ? [] : [...text.matchAll(/Host\(`([a-z0-9.-]+)`\)/g)].flatMap((match) => match[1] ?? []);
