FROM node:24-slim AS build
RUN --mount=type=cache,id=@cache@-npm,target=/root/.npm npm install --global pnpm@9.15.0
WORKDIR /app
COPY package.json pnpm-lock.yaml ./
RUN --mount=type=cache,id=@cache@-pnpm,target=/pnpm pnpm install --frozen-lockfile --store-dir /pnpm
COPY . .
RUN pnpm build

FROM caddy:2
COPY --from=build /app/dist /srv
RUN printf ':8080\nroot * /srv\nencode zstd gzip\ntry_files {path} /index.html\nfile_server\n' > /etc/caddy/Caddyfile
USER 1000
CMD ["caddy", "run", "--config", "/etc/caddy/Caddyfile"]
