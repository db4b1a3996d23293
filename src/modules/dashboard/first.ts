import { originOf } from '#http/origin';
import style from '../../../web/home.css' with { type: 'text' };
import bundle from '../../../web/index.html' with { type: 'text' };

// The types know HTML files as something to bundle only; asked for as text, they are text.
const page = bundle as unknown as string;

/** Nothing but this page's own style is loaded, and nothing runs. */
const POLICY =
  "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': POLICY,
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
};

/** What a person sees who opens the address of a server that was built without the dashboard. */
export const firstPage = (request: Request): Response =>
  new Response(page.replaceAll('{base_url}', Bun.escapeHTML(originOf(request))), { headers: HEADERS });

export const firstStyle = (): Response =>
  new Response(style, { headers: { 'content-type': 'text/css; charset=utf-8' } });
