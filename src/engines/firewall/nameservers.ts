import { readFile } from 'node:fs/promises';

/** The file that Docker hands to containers instead, when the first one names a resolver on loopback only. */
const RESOLVER_FILES = ['/etc/resolv.conf', '/run/systemd/resolve/resolv.conf'];

/** The name servers (IPv4) that containers of this host ask. */
export const readNameservers = async (files: string[] = RESOLVER_FILES): Promise<string[]> => {
  for (const file of files) {
    const found = parseNameservers(await readIfThere(file));
    if (found.length > 0) return found;
  }
  return [];
};

/** `nameserver` lines of a resolv.conf, without loopback and IPv6. */
export const parseNameservers = (text: string): string[] => {
  const found = text.matchAll(/^\s*nameserver\s+(\d{1,3}(?:\.\d{1,3}){3})\s*$/gm);
  return [...new Set([...found].flatMap(([, address = '']) => (address.startsWith('127.') ? [] : [address])))];
};

const readIfThere = async (file: string): Promise<string> => {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '';
    throw error;
  }
};
