import { Elysia } from 'elysia';
import { route } from '#http/route';
import { notFound } from '#kernel/errors';
import type { WebFiles } from './files.ts';
import { firstPage, firstStyle } from './first.ts';
import { assetReply, pageReply } from './reply.ts';

export interface DashboardDeps {
  /** Undefined when the dashboard was not built: then there is a first page that says so much as where to go on. */
  web: WebFiles | undefined;
}

/** Addresses that the page itself takes apart, each with the name under which its requests are counted. */
const PLACES = [
  ['/sign-in', 'getSignInPage'],
  ['/new', 'getFirstRunPage'],
  ['/p', 'getProjectsPage'],
  ['/p/*', 'getProjectPage'],
  ['/operations', 'getOperationsPage'],
  ['/operations/*', 'getOperationPage'],
  ['/tokens', 'getTokensPage'],
  ['/tokens/*', 'getTokenPage'],
  ['/admin', 'getAdminPage'],
  ['/admin/*', 'getAdminPartPage'],
  ['/_ui', 'getPrimitivesPage'],
] as const;

const page = (operationId: string, summary: string) =>
  route({ operationId, capability: 'public', tag: 'dashboard', summary, page: true, anyQuery: true });

export const dashboardRoutes = ({ web }: DashboardDeps) => {
  const app = new Elysia()
    .get(
      '/',
      ({ request }) => (web === undefined ? firstPage(request) : pageReply(web, request)),
      page('getHome', 'The dashboard'),
    )
    .get('/home.css', () => firstStyle(), page('getHomeStyle', 'Style of the first page'))
    .get('/assets/*', ({ request, path }) => asset(web, request, path), page('getAsset', 'What the dashboard loads'));
  for (const [path, operationId] of PLACES)
    app.get(path, ({ request }) => place(web, request), page(operationId, 'A place of the dashboard'));
  return app;
};

const place = (web: WebFiles | undefined, request: Request): Response => {
  if (web === undefined)
    throw notFound('this executable was built without the dashboard', 'use the CLI, or GET /v1/openapi');
  return pageReply(web, request);
};

const asset = (web: WebFiles | undefined, request: Request, path: string): Response => {
  const found = web?.manifest.assets.find((each) => each.path === path);
  if (web === undefined || found === undefined)
    throw notFound('no such file of the dashboard', 'reload the page: the server may have been upgraded');
  return assetReply(web, request, found);
};
