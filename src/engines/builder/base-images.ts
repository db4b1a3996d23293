/** Images that plans build on, the most used first. The server puts those it has into its registry ahead of time. */
export const BASE_IMAGES = [
  'node:24-slim',
  'node:22-slim',
  'python:3.13-slim',
  'debian:trixie-slim',
  'caddy:2',
  'python:3.11-slim',
] as const;
