/** Where the served files lie in the image. */
export const SITE_DIR = '/srv';
