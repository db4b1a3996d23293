export type { DynamicConfig } from './model.ts';
export { render } from './render.ts';
export {
  CONTROL_PLANE,
  controlPlaneConfig,
  DEFAULT_CERTIFICATE,
  defaultCertificateConfig,
  routeConfig,
  routeName,
} from './route.ts';
export { CONTAINER_PATHS, staticArguments } from './static.ts';
