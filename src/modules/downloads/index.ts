export { createCatalogue, MANIFEST, type Catalogue } from './catalogue.ts';
export { downloadsRoutes, type DownloadsRoutesDeps } from './routes.ts';
export { createTransfers, type Transfers } from './transfers.ts';
