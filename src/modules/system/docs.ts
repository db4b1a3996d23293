import { notFound } from '#kernel/errors';

/** Only this server: no outside host is asked for anything, and nothing inline runs. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "font-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const HTML_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': POLICY,
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
};

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>berth API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/v1/docs/swagger-ui.css">
</head>
<body>
<div id="docs"></div>
<noscript>This page needs JavaScript. The same is in /v1/openapi.yaml and /skill.md.</noscript>
<script src="/v1/docs/swagger-ui-bundle.js"></script>
<script src="/v1/docs/start.js"></script>
</body>
</html>
`;

const START = `SwaggerUIBundle({
  url: '/v1/openapi',
  dom_id: '#docs',
  deepLinking: true,
  validatorUrl: null,
  persistAuthorization: false,
  tryItOutEnabled: true,
  displayRequestDuration: true,
});
`;

export const docsPage = (): Response => new Response(PAGE, { headers: HTML_HEADERS });

/** A part of the page. The large ones are loaded when somebody looks. */
export const docsFile = async (name: string): Promise<Response> => {
  switch (name) {
    case 'start.js':
      return asset(START, 'text/javascript; charset=utf-8');
    case 'swagger-ui-bundle.js':
      return asset(await bundle(), 'text/javascript; charset=utf-8');
    case 'swagger-ui.css':
      return asset(await style(), 'text/css; charset=utf-8');
    default:
      throw notFound('no such file of the documentation', 'open /v1/docs');
  }
};

const bundle = async (): Promise<string> =>
  (await import('swagger-ui-dist/swagger-ui-bundle.js', { with: { type: 'text' } })).default;

const style = async (): Promise<string> =>
  (await import('swagger-ui-dist/swagger-ui.css', { with: { type: 'text' } })).default;

const asset = (body: string, type: string): Response =>
  new Response(body, { headers: { 'content-type': type, 'cache-control': 'public, max-age=3600' } });
