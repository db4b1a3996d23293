export { createCatalogue } from './catalogue.ts';
export { downloadsRoutes, type DownloadsRoutesDeps } from './routes.ts';
export { createTransfers } from './transfers.ts';
