export { VERSION } from '#kernel/version';
