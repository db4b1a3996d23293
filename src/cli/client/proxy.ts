/**
 * The proxy that `fetch` takes a request through by the variables of the environment, without its credentials; undefined
 * when it goes straight. Only for messages: Bun itself decides.
 */
export const proxyFor = (url: URL, env: Readonly<Record<string, string | undefined>>): string | undefined => {
  const variable = (name: string): string => env[name.toLowerCase()] || env[name] || '';
  if (isExempt(url, variable('NO_PROXY'))) return undefined;
  const address = variable(url.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY');
  return URL.canParse(address) ? new URL(address).origin : undefined;
};

const isExempt = ({ hostname, host }: URL, list: string): boolean =>
  list
    .split(',')
    .map((each) => each.trim().replace(/^\*?\./, ''))
    .some(
      (each) => each === '*' || (each !== '' && (each === host || each === hostname || hostname.endsWith(`.${each}`))),
    );
