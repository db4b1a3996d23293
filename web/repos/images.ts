/** Pictures that browsers show, by the ending of their name. */
const IMAGES: Record<string, string> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  avif: 'image/avif',
  svg: 'image/svg+xml',
};

export const imageType = (path: string): string | undefined =>
  IMAGES[path.slice(path.lastIndexOf('.') + 1).toLowerCase()];

export const dataUrl = (type: string, { encoding, content }: { encoding: string; content: string }): string =>
  `data:${type}${encoding === 'base64' ? ';base64' : ''},${encoding === 'base64' ? content : encodeURIComponent(content)}`;
