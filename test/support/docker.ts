import { until } from './until.ts';

/** Runs the Docker client, and returns what it printed. */
export const docker = async (argv: string[]): Promise<string> => {
  const child = Bun.spawn(['docker', ...argv], { stdout: 'pipe', stderr: 'pipe' });
  const [out, error, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  if (code !== 0) throw new Error(`docker ${argv.join(' ')}: ${error}`);
  return out;
};

/** What the engine says of its disk, build cache included. It answers one such question at a time, and berth asks too. */
export const diskUsage = async (): Promise<string> => {
  let usage = '';
  await until(async () => {
    try {
      usage = await docker(['system', 'df', '-v', '--format', '{{json .}}']);
      return true;
    } catch (error) {
      if (String(error).includes('already running')) return false;
      throw error;
    }
  });
  return usage;
};

const ids = async (argv: string[]): Promise<string[]> => (await docker(argv)).split('\n').filter((id) => id !== '');

/** Removes the containers, volumes, networks and images that carry a label. */
export const removeByLabel = async (label: string): Promise<void> => {
  const filter = ['--filter', `label=${label}`];
  const containers = await ids(['ps', '-aq', ...filter]);
  if (containers.length > 0) await docker(['rm', '-fv', ...containers]);
  const volumes = await ids(['volume', 'ls', '-q', ...filter]);
  if (volumes.length > 0) await docker(['volume', 'rm', '-f', ...volumes]);
  const networks = await ids(['network', 'ls', '-q', ...filter]);
  if (networks.length > 0) await docker(['network', 'rm', ...networks]);
  const images = [...new Set(await ids(['images', '-aq', ...filter]))];
  if (images.length > 0) await docker(['rmi', '-f', ...images]);
};
