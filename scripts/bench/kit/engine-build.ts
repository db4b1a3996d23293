const SOCKET = (process.env['DOCKER_HOST'] ?? 'unix:///var/run/docker.sock').replace('unix://', '');

/** As with `docker build --tag`; the next build takes it over. */
const IMAGE_NAME = 'berth-bench/app';

export interface BuildOptions {
  /** `name=value`. */
  label: string;
  noCache: boolean;
}

/** Builds by BuildKit over the Engine API, as `docker build` does, but without the plugin that not every client has. */
export const buildImage = async (archive: Uint8Array, { label, noCache }: BuildOptions): Promise<string> => {
  const [name = '', value = ''] = label.split('=');
  const query = new URLSearchParams({
    version: '2',
    rm: '1',
    t: IMAGE_NAME,
    labels: JSON.stringify({ [name]: value }),
  });
  if (noCache) query.set('nocache', '1');
  const response = await fetch(`http://docker/build?${query}`, {
    unix: SOCKET,
    method: 'POST',
    headers: { 'content-type': 'application/x-tar' },
    body: new Blob([archive as Uint8Array<ArrayBuffer>]),
  });
  const text = await response.text();
  const id = /"moby\.image\.id","aux":\{"ID":"(?<id>sha256:[0-9a-f]{64})"/.exec(text)?.groups?.['id'];
  if (id === undefined) throw new Error(`the build gave no image: ${text.slice(-2000)}`);
  return id;
};
