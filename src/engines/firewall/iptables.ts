import { access } from 'node:fs/promises';
import { messageOf } from '#kernel/errors';
import type { Log } from '#kernel/log';
import type { Firewall, FirewallStatus } from './port.ts';
import {
  assertSpec,
  ensureScript,
  type Family,
  type FirewallSpec,
  type Listing,
  missingRules,
  removeScript,
} from './rules.ts';

/** The tools live in sbin, which is not on everybody's path. */
const TOOL_PATH = '/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin:/bin';
const COMMAND_DEADLINE_MS = 15_000;
/** Seconds to wait for others (Docker) that hold the lock of iptables. */
const LOCK_WAIT = '5';
const TOOLS: Record<Family, string> = { ipv4: 'iptables', ipv6: 'ip6tables' };

export interface IptablesOptions extends FirewallSpec {
  log: Log;
  /** Where to look for the tools. */
  toolPath?: string;
}

/** Rules through `iptables`, be it the nft or the legacy one. */
export const createIptablesFirewall = ({ log, toolPath = TOOL_PATH, ...spec }: IptablesOptions): Firewall => {
  assertSpec(spec);
  const listing = async (family: Family): Promise<Listing> =>
    (await runTool(toolPath, [TOOLS[family], '-w', LOCK_WAIT, '-S'])).split('\n');
  const restore = (family: Family, script: string): Promise<string> =>
    runTool(toolPath, [`${TOOLS[family]}-restore`, '-w', LOCK_WAIT, '--noflush'], script);

  const attempt = async (step: (family: Family) => Promise<void>): Promise<FirewallStatus> => {
    try {
      for (const family of await families()) await step(family);
    } catch (error) {
      return {
        state: 'unavailable',
        reason: messageOf(error),
        hint: 'install iptables and run berth as root, so that containers cannot reach the host',
      };
    }
    return { state: 'active' };
  };
  const status = async (): Promise<FirewallStatus> => {
    const missing: string[] = [];
    const looked = await attempt(async (family) => {
      missing.push(...missingRules(spec, family, await listing(family)).map((rule) => `${TOOLS[family]}: ${rule}`));
    });
    if (looked.state !== 'active' || missing.length === 0) return looked;
    return { state: 'inactive', reason: `missing: ${missing.join(', ')}`, hint: 'berth sets them when it starts' };
  };

  return {
    status,
    ensure: async () => {
      const made = await attempt(async (family) => {
        await restore(family, ensureScript(spec, family, await listing(family)));
      });
      if (made.state !== 'active') log.warn('the firewall rules are not in force', { reason: made.reason });
      return made.state === 'active' ? await status() : made;
    },
    remove: async () => {
      const removed = await attempt(async (family) => {
        const script = removeScript(spec, family, await listing(family));
        if (script !== undefined) await restore(family, script);
      });
      return removed.state === 'active'
        ? { state: 'inactive', reason: 'the rules were removed', hint: 'start berth to set them again' }
        : removed;
    },
  };
};

/** A kernel without IPv6 has nothing to filter there, and its tool would fail. */
const families = async (): Promise<Family[]> => {
  try {
    await access('/proc/net/if_inet6');
    return ['ipv4', 'ipv6'];
  } catch {
    return ['ipv4'];
  }
};

const runTool = async (toolPath: string, [tool = '', ...args]: string[], input = ''): Promise<string> => {
  const path = Bun.which(tool, { PATH: toolPath });
  if (path === null) throw new Error(`${tool} is not installed`);
  const child = Bun.spawn([path, ...args], {
    stdin: new TextEncoder().encode(input),
    stdout: 'pipe',
    stderr: 'pipe',
    env: { PATH: toolPath, LC_ALL: 'C' },
    timeout: COMMAND_DEADLINE_MS,
  });
  const [output, complaint, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  if (code !== 0) throw new Error(`${tool} failed (${code}): ${complaint.trim().replaceAll('\n', '; ')}`);
  return output;
};
