import { Elysia } from 'elysia';
import { route } from '#http/route';
import style from '../../../web/home.css' with { type: 'text' };
import bundle from '../../../web/index.html' with { type: 'text' };
import { originOf } from '#http/origin';

// The types know HTML files as something to bundle only; asked for as text, they are text.
const page = bundle as unknown as string;

/** Nothing but this page's own style is loaded, and nothing runs. */
const POLICY =
  "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const HTML_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': POLICY,
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
};

/** What a person sees who opens the address of the server. */
export const homeRoutes = () =>
  new Elysia()
    .get('/', ({ request }) => homePage(originOf(request)), {
      ...route({ operationId: 'getHome', capability: 'public', tag: 'system', summary: 'The first page', page: true }),
    })
    .get('/home.css', () => new Response(style, { headers: { 'content-type': 'text/css; charset=utf-8' } }), {
      ...route({ operationId: 'getHomeStyle', capability: 'public', tag: 'system', summary: 'Its style', page: true }),
    });

const homePage = (baseUrl: string): Response =>
  new Response(page.replaceAll('{base_url}', Bun.escapeHTML(baseUrl)), { headers: HTML_HEADERS });
