export type { DynamicConfig, Router, Service } from './model.ts';
export { render } from './render.ts';
export {
  CONTROL_PLANE,
  controlPlaneConfig,
  DEFAULT_CERTIFICATE,
  defaultCertificateConfig,
  PROXY_HEADER,
  routeConfig,
  routeName,
  type RouteOptions,
} from './route.ts';
export { CONTAINER_PATHS, staticArguments, type StaticOptions } from './static.ts';
