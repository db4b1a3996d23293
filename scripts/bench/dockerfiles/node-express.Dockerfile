FROM node:24-slim
WORKDIR /app
COPY --chown=node:node package.json package-lock.json ./
RUN --mount=type=cache,id=@cache@-npm,target=/root/.npm npm ci --omit=dev --no-audit --no-fund
COPY --chown=node:node . .
ENV NODE_ENV=production PORT=8080
USER node
CMD ["node", "server.js"]
