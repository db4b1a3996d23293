import { randomBytes } from 'node:crypto';

/** A machine beyond the host, made of a network namespace: it answers at an address of its own and at `extraAddress`. */
export interface Outside {
  address: string;
  port: number;
  close: () => Promise<void>;
}

const PORT = 8099;
const SERVER = `Bun.listen({ hostname: '0.0.0.0', port: ${PORT}, socket: { open(s) { s.end('hello') }, data() {} } });
console.log('listening');`;

export const openOutside = async (extraAddress: string): Promise<Outside> => {
  const name = `bt${randomBytes(3).toString('hex')}`;
  const third = 1 + Math.floor(Math.random() * 250);
  const near = `198.18.${third}.1`;
  const far = `198.18.${third}.2`;
  await tool('ip', 'netns', 'add', name);
  await tool('ip', 'link', 'add', `${name}n`, 'type', 'veth', 'peer', 'name', 'far', 'netns', name);
  await tool('ip', 'address', 'add', `${near}/30`, 'dev', `${name}n`);
  await tool('ip', 'link', 'set', `${name}n`, 'up');
  const inside = (...args: string[]): Promise<string> => tool('ip', '-n', name, ...args);
  await inside('address', 'add', `${far}/30`, 'dev', 'far');
  await inside('address', 'add', `${extraAddress}/32`, 'dev', 'far');
  await inside('link', 'set', 'far', 'up');
  await inside('route', 'add', 'default', 'via', near);
  // A run that was killed may have left its own.
  await tool('ip', 'route', 'replace', `${extraAddress}/32`, 'via', far);
  const server = Bun.spawn(['ip', 'netns', 'exec', name, process.execPath, '-e', SERVER], { stdout: 'pipe' });
  await server.stdout.getReader().read();
  return {
    address: far,
    port: PORT,
    close: async () => {
      server.kill();
      await server.exited;
      await tool('ip', 'link', 'del', `${name}n`);
      await tool('ip', 'netns', 'del', name);
    },
  };
};

/** Runs a tool of the host and gives its output. */
export const tool = async (...argv: string[]): Promise<string> => {
  const child = Bun.spawn(argv, { stdout: 'pipe', stderr: 'pipe' });
  const [output, complaint, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  if (code !== 0) throw new Error(`${argv.join(' ')}: ${complaint.trim()}`);
  return output;
};
