import { nodeApp } from './apps.ts';

/** Writes lines as it is asked to. */
export const LOG_WRITER = nodeApp(`(request, response) => {
  const { pathname, searchParams } = new URL(request.url, 'http://app');
  const from = Number(searchParams.get('from') ?? 0);
  const to = from + Number(searchParams.get('n') ?? 0);
  for (let i = from; i < to; i += 1) console.log('line ' + i + ' GET /items/' + (i * 7919 % 1000003).toString(36) + ' 200 in ' + (i % 97) + ' ms');
  if (pathname === '/odd') {
    console.log('<img src=x onerror="document.title=String(1)"><script>document.title="owned"</script>');
    console.log('\\u001b[32mready\\u001b[0m \\u001b[41;97m FATAL \\u001b[0m plain');
    console.log('wide '.repeat(200));
    console.error('to standard error');
  }
  response.end('ok');
}`);
