import { describe, expect, test } from 'bun:test';
import { dockerfileOf, nodeApp, packageJson } from './support.ts';

describe('whole Dockerfiles', () => {
  test('a Node app without a build has one stage', () => {
    expect(dockerfileOf(nodeApp({ dependencies: { express: '5' } }, { '.npmrc': '' })))
      .toBe(`FROM node:24-slim AS runtime
COPY --chown=1000:1000 source/package.json source/.npmrc /app/
WORKDIR /app
RUN --mount=type=cache,id=berth-shop-web-npm,target=/root/.npm npm install --omit=dev --no-audit --no-fund
COPY --chown=1000:1000 source/ /app/
ENV HOST=0.0.0.0 HOSTNAME=0.0.0.0 NODE_ENV=production PORT=8080
USER node
EXPOSE 8080
CMD ["node","server.js"]
`);
  });

  test('a Node app with a build installs, prunes and builds in stages', () => {
    const scripts = { build: 'tsc', start: 'node dist/a.js' };
    expect(
      dockerfileOf({
        'package.json': packageJson({
          scripts,
          dependencies: { express: '5' },
          devDependencies: { typescript: '5' },
          packageManager: 'pnpm@9.15.0',
        }),
      }),
    ).toBe(`FROM node:24-slim AS deps
RUN --mount=type=cache,id=berth-shop-web-npm,target=/root/.npm npm install --global --force --no-audit --no-fund --loglevel=error 'pnpm@9.15.0'
WORKDIR /app
ENV CI=true HUSKY=0 pnpm_config_pm_on_fail=ignore
COPY source/package.json /app/
RUN --mount=type=cache,id=berth-shop-web-pnpm,target=/root/.local/share/pnpm/store pnpm install --no-frozen-lockfile --prod=false --store-dir /root/.local/share/pnpm/store

FROM deps AS production
RUN --mount=type=cache,id=berth-shop-web-pnpm,target=/root/.local/share/pnpm/store pnpm install --prod --ignore-scripts --prefer-offline --no-frozen-lockfile --store-dir /root/.local/share/pnpm/store --config.modules-cache-max-age=0

FROM deps AS build
COPY source/ ./
RUN --mount=type=bind,source=berth/env,target=/run/berth/env set -a && . /run/berth/env && set +a && pnpm run build && mkdir /out && tar -cf - --exclude=node_modules . | tar -xf - -C /out

FROM node:24-slim AS runtime
COPY --from=production --chown=1000:1000 /app/node_modules/ /app/node_modules/
COPY --from=build --chown=1000:1000 /out/ /app/
WORKDIR /app
ENV HOST=0.0.0.0 HOSTNAME=0.0.0.0 NODE_ENV=production PORT=8080
USER node
EXPOSE 8080
CMD ["node","dist/a.js"]
`);
  });

  test('Next.js runs from its standalone folder, without node_modules', () => {
    const text = dockerfileOf({
      'package.json': packageJson({
        scripts: { build: 'next build', start: 'next start' },
        dependencies: { next: '16' },
      }),
      'package-lock.json': packageJson({ packages: { '': { dependencies: { next: '16' } } } }),
    });
    expect(text).toBe(`FROM node:24-slim AS deps
WORKDIR /app
ENV CI=true HUSKY=0
COPY source/package.json source/package-lock.json /app/
RUN --mount=type=cache,id=berth-shop-web-npm,target=/root/.npm npm ci --include=dev --no-audit --no-fund || { npm ci --dry-run --include=dev --no-audit --no-fund 2>&1 | grep -q EUSAGE && echo 'WARNING: npm ci refuses package-lock.json, as said above: versions other than the locked ones may be installed; run npm install and commit the lock file' && npm install --include=dev --no-audit --no-fund; }

FROM deps AS build
COPY source/ ./
ENV NEXT_PRIVATE_STANDALONE=true NEXT_TELEMETRY_DISABLED=1
RUN --mount=type=cache,id=berth-shop-web-next-cache,target=/app/.next/cache --mount=type=bind,source=berth/env,target=/run/berth/env set -a && . /run/berth/env && set +a && npm run build && mv .next/standalone /out && mkdir -p /out/.next/static && cp -a .next/static/. /out/.next/static/ && if [ -d public ]; then mkdir -p /out/public && cp -a public/. /out/public/; fi

FROM node:24-slim AS runtime
COPY --from=build --chown=1000:1000 /out/ /app/
WORKDIR /app
ENV HOST=0.0.0.0 HOSTNAME=0.0.0.0 NODE_ENV=production PORT=8080
USER node
EXPOSE 8080
CMD ["node","server.js"]
`);
  });

  test('FastAPI has one stage', () => {
    expect(dockerfileOf({ 'requirements.txt': 'fastapi\nuvicorn\n', 'main.py': 'app = FastAPI()\n' }))
      .toBe(`FROM python:3.13-slim AS runtime
RUN useradd --uid 1000 --create-home --shell /usr/sbin/nologin app && install -d -o app -g app /app
WORKDIR /app
COPY source/requirements.txt ./
RUN --mount=type=cache,id=berth-shop-web-pip,target=/root/.cache/pip pip install --root-user-action=ignore --disable-pip-version-check -r requirements.txt
COPY --chown=1000:1000 source/ ./
ENV FORWARDED_ALLOW_IPS="*" HOST=0.0.0.0 HOSTNAME=0.0.0.0 PORT=8080 PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
USER app
EXPOSE 8080
CMD ["/bin/sh","-c","exec uvicorn main:app --host 0.0.0.0 --port \\"\${PORT:-8080}\\""]
`);
  });

  test('uv stays out of what runs', () => {
    const text = dockerfileOf({
      'pyproject.toml': '[project]\nname="a"\nversion="1"\ndependencies=["flask", "gunicorn"]\n',
      'uv.lock': '[[package]]\nname = "flask"\n\n[[package]]\nname = "gunicorn"\n',
      'app.py': 'app = Flask(__name__)',
    });
    expect(text).toBe(`FROM python:3.13-slim AS deps
RUN --mount=type=cache,id=berth-shop-web-pip,target=/root/.cache/pip pip install --root-user-action=ignore --disable-pip-version-check uv==0.13.8
WORKDIR /app
ENV UV_COMPILE_BYTECODE=1 UV_LINK_MODE=copy UV_PROJECT_ENVIRONMENT=/opt/venv UV_PYTHON=/usr/local/bin/python3 UV_PYTHON_DOWNLOADS=never
COPY source/uv.lock source/pyproject.toml ./
RUN --mount=type=cache,id=berth-shop-web-uv,target=/root/.cache/uv uv sync --frozen --no-dev --no-editable --no-install-project

FROM python:3.13-slim AS runtime
RUN useradd --uid 1000 --create-home --shell /usr/sbin/nologin app && install -d -o app -g app /app
WORKDIR /app
COPY --from=deps /opt/venv/ /opt/venv/
COPY --chown=1000:1000 source/ ./
ENV FORWARDED_ALLOW_IPS="*" HOST=0.0.0.0 HOSTNAME=0.0.0.0 PATH="/opt/venv/bin:$PATH" PORT=8080 PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 VIRTUAL_ENV=/opt/venv
USER app
EXPOSE 8080
CMD ["gunicorn","--threads","4","--worker-tmp-dir","/dev/shm","app:app"]
`);
  });

  test('apt packages come with caches, before anything of the app', () => {
    const text = dockerfileOf({ 'start.sh': '#!/bin/bash\n', 'berth.toml': '[build]\napt = ["jq", "curl"]\n' });
    expect(text.split('\n')[2]).toBe(
      'RUN --mount=type=cache,id=berth-shop-web-apt,target=/var/cache/apt,sharing=locked --mount=type=cache,id=berth-shop-web-apt-lists,target=/var/lib/apt,sharing=locked rm -f /etc/apt/apt.conf.d/docker-clean && apt-get update -qq && apt-get install -y -qq --no-install-recommends curl jq',
    );
  });
});
