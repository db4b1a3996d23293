import type { ReactNode } from 'react';

/** Drawn on a grid of 16, with lines of 1.5. */
const PATHS = {
  anchor: (
    <path d="M8 4.5v9M5 7.5h6M2.5 9c.4 2.7 2.6 4.5 5.5 4.5s5.1-1.8 5.5-4.5M8 4.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3z" />
  ),
  projects: <path d="M2 4.5h5v5H2zM9.5 2.5H14V7H9.5zM9.5 9.5H14v4H9.5zM2 12h5v1.5H2z" />,
  service: <path d="M2.5 3h11v4h-11zM2.5 9h11v4h-11zM5 5h.01M5 11h.01" />,
  deploy: <path d="M8 11V2.5M4.5 6 8 2.5 11.5 6M2.5 10.5v3h11v-3" />,
  logs: <path d="M2.5 3.5h11M2.5 6.5h7M2.5 9.5h11M2.5 12.5h5" />,
  events: <path d="M8 5v3.5l2 1.5M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0z" />,
  operations: <path d="M3 4h6M3 8h10M3 12h4M12 2.5v3M6 6.5v3M10 10.5v3" />,
  env: (
    <path d="M5.5 3C4 3 4 4 4 5.5S3.5 8 2.5 8C3.5 8 4 9 4 10.5S4 13 5.5 13M10.5 3C12 3 12 4 12 5.5S12.5 8 13.5 8C12.5 8 12 9 12 10.5s0 2.5-1.5 2.5" />
  ),
  datastore: (
    <path d="M13 4c0 1.1-2.2 2-5 2s-5-.9-5-2 2.2-2 5-2 5 .9 5 2zM3 4v8c0 1.1 2.2 2 5 2s5-.9 5-2V4M3 8c0 1.1 2.2 2 5 2s5-.9 5-2" />
  ),
  repo: (
    <path d="M4.5 5.5v5M4.5 5.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3zM4.5 13.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3zM11.5 6.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3zM11.5 6.5c0 3-7 1-7 4" />
  ),
  token: <path d="M6 10a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM8.5 8.5 14 14M11 11l1.5-1.5" />,
  admin: <path d="M8 1.8 13 4v4c0 3-2 5.2-5 6.2C5 13.2 3 11 3 8V4z" />,
  settings: (
    <path d="M2 5h7M13 5h1M2 11h1M7 11h7M11 6.8a1.8 1.8 0 1 0 0-3.6 1.8 1.8 0 0 0 0 3.6zM5 12.8a1.8 1.8 0 1 0 0-3.6 1.8 1.8 0 0 0 0 3.6z" />
  ),
  usage: <path d="M2 12.5 5.5 8l3 2.5 5-7" />,
  search: <path d="M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zM10.5 10.5 14 14" />,
  close: <path d="m3.5 3.5 9 9M12.5 3.5l-9 9" />,
  check: <path d="m3 8.5 3.5 3.5L13 4.5" />,
  plus: <path d="M8 3v10M3 8h10" />,
  minus: <path d="M3 8h10" />,
  more: <path d="M3.5 8h.01M8 8h.01M12.5 8h.01" strokeWidth="2.2" />,
  menu: <path d="M2.5 4.5h11M2.5 8h11M2.5 11.5h11" />,
  down: <path d="m4 6 4 4 4-4" />,
  up: <path d="m4 10 4-4 4 4" />,
  right: <path d="m6 4 4 4-4 4" />,
  updown: <path d="M5 6.5 8 3.5l3 3M5 9.5l3 3 3-3" />,
  external: <path d="M6.5 3H3v10h10V9.5M9.5 2.5h4v4M13 3 7.5 8.5" />,
  copy: <path d="M5.5 5.5h8v8h-8zM3 10.5h-.5v-8h8V3" />,
  warn: <path d="M8 2 14.5 13.5h-13zM8 6.5v3.5M8 12h.01" />,
  info: <path d="M8 7.5V11M8 5h.01M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0z" />,
  restart: <path d="M13 8a5 5 0 1 1-1.6-3.7M13.5 2v3h-3" />,
  rollback: <path d="M3 6h6.5a3.5 3.5 0 0 1 0 7H6M6 3 3 6l3 3" />,
  scale: <path d="M3 13V9M8 13V6M13 13V3" />,
  trash: <path d="M2.5 4.5h11M6 4V2.5h4V4M4 4.5l.7 9h6.6l.7-9" />,
  sun: (
    <path d="M8 10.8a2.8 2.8 0 1 0 0-5.6 2.8 2.8 0 0 0 0 5.6zM8 1.5V3M8 13v1.5M1.5 8H3M13 8h1.5M3.4 3.4l1 1M11.6 11.6l1 1M3.4 12.6l1-1M11.6 4.4l1-1" />
  ),
  moon: <path d="M13.5 9.5A5.8 5.8 0 0 1 6.5 2.5a5.8 5.8 0 1 0 7 7z" />,
  auto: <path d="M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0zM8 2v12M8 5l4.5-.5M8 8h6M8 11l4.5.5" />,
  user: <path d="M8 8a2.8 2.8 0 1 0 0-5.6A2.8 2.8 0 0 0 8 8zM2.8 14c.4-2.8 2.5-4.2 5.2-4.2s4.8 1.4 5.2 4.2" />,
  folder: <path d="M2 4h4.5L8 5.5h6v7.5H2z" />,
  file: <path d="M4 2h5l3 3v9H4zM9 2v3h3" />,
  download: <path d="M8 2.5V11M4.5 7.5 8 11l3.5-3.5M2.5 13.5h11" />,
  pause: <path d="M5.5 3.5v9M10.5 3.5v9" />,
  play: <path d="M5 3v10l8-5z" />,
  link: (
    <path d="M6.5 9.5a2.5 2.5 0 0 0 3.6 0l2.7-2.7a2.5 2.5 0 0 0-3.6-3.6L8.5 4M9.5 6.5a2.5 2.5 0 0 0-3.6 0L3.2 9.2a2.5 2.5 0 0 0 3.6 3.6l.7-.8" />
  ),
  terminal: <path d="m3 4 4 4-4 4M8.5 12.5H13" />,
} satisfies Record<string, ReactNode>;

export type IconName = keyof typeof PATHS;

/** Decoration: what it means stands in words beside it, or in the label of its button. */
export const Icon = ({ name, size = 16 }: { name: IconName; size?: number }) => (
  <svg
    width={size}
    height={size}
    viewBox="0 0 16 16"
    fill="none"
    stroke="currentColor"
    strokeWidth="1.5"
    strokeLinecap="round"
    strokeLinejoin="round"
    aria-hidden="true"
  >
    {PATHS[name]}
  </svg>
);

/** A vessel in its berth. */
export const Mark = ({ size = 20 }: { size?: number }) => (
  <svg width={size} height={size} viewBox="0 0 24 24" aria-hidden="true">
    <path
      d="M3 4v13a4 4 0 0 0 4 4h10a4 4 0 0 0 4-4V4"
      fill="none"
      stroke="currentColor"
      strokeWidth="2.5"
      strokeLinecap="round"
    />
    <rect x="8" y="3" width="8" height="12.5" rx="2" fill="var(--accent)" />
  </svg>
);
