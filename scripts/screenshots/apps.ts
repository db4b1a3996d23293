import { nodeApp } from '#test/support/apps.ts';

/** A shop's page: routes that answer at different speeds, a log line each, now and then a failure. */
export const STOREFRONT = nodeApp(`(request, response) => {
  const begun = performance.now();
  const wait = request.url.startsWith('/search') ? 40 + Math.random() * 90 : 4 + Math.random() * 20;
  setTimeout(() => {
    const failed = request.url === '/checkout' && Math.random() < 0.08;
    response.statusCode = failed ? 502 : 200;
    response.end(failed ? 'payment provider timed out' : 'ok');
    const took = (performance.now() - begun).toFixed(0) + ' ms';
    const status = failed ? '\\u001b[31m502\\u001b[0m' : '\\u001b[32m200\\u001b[0m';
    console.log(request.method + ' ' + request.url + ' ' + status + ' ' + took);
    if (failed) console.error('PaymentError: the provider timed out after 3000 ms, order ' + Math.floor(1000 + Math.random() * 9000));
  }, wait);
}`);

/** Serves for a while, and ends with a fault, again and again. */
export const CRASHING_WORKER = {
  ...nodeApp('() => undefined'),
  'server.js': `
require('node:http').createServer((request, response) => response.end('ok')).listen(process.env.PORT, '0.0.0.0');
console.log('waiting for jobs in the queue "mails"');
setTimeout(() => { throw new Error('connect ECONNREFUSED 10.0.4.7:5672: the message broker is gone'); }, 5000);
`,
};

/** A build that fails as builds do: an import that leads nowhere. */
export const BROKEN_BUILD = {
  ...nodeApp('() => undefined'),
  Dockerfile: [
    'FROM node:24-slim',
    'WORKDIR /app',
    'COPY . .',
    'RUN node build.mjs',
    'USER node',
    'CMD ["node", "server.js"]',
    '',
  ].join('\n'),
  'build.mjs': `
console.log('collecting pages');
for (const page of ['cart', 'address', 'payment']) console.log('  compiled pages/' + page + '.tsx');
await import('./src/taxes/rates.mjs');
`,
};

/** A build that is still under way when it is looked at; `id` keeps it from the cache. */
export const longBuild = (id: string): Record<string, string> => ({
  ...nodeApp(`(request, response) => response.end('catalog')`),
  Dockerfile: [
    'FROM node:24-slim',
    'WORKDIR /app',
    'COPY . .',
    'RUN node index.mjs',
    'USER node',
    'CMD ["node", "server.js"]',
    '',
  ].join('\n'),
  'build-id.txt': id,
  'index.mjs': `
for (let page = 1; page <= 150; page += 1) {
  console.log('indexed page ' + page + ' of 150 (' + page * 48 + ' products)');
  await new Promise((resolve) => setTimeout(resolve, 400));
}
`,
});
