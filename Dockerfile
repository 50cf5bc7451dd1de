# syntax=docker/dockerfile:1

# One image for every process of the platform: SERVICE and ROLE choose the process (infra/image/src/main.ts).
# Node runs the TypeScript sources directly (ADR 2); the build only generates Prisma's clients.
#
#   docker build --tag attribution-platform .
#
# The base has the exact Node version of infra/bootstrap.mjs (a test compares them). The dependency update bot also pins the
# digest: its pull request changes the line to `node:<version>-trixie-slim@sha256:<digest>`, so that what was reviewed is
# what is built.
FROM node:26.10.0-trixie-slim AS base
WORKDIR /app

FROM base AS build
RUN npm install --global --no-audit --no-fund --no-update-notifier pnpm@12.21.0
ENV CI=true PNPM_STORE=/pnpm/store

# Installation depends on the manifests alone, so a change of a source file does not invalidate the layers below.
FROM base AS manifests
COPY . .
RUN find . -type f ! -name package.json ! -name pnpm-lock.yaml ! -name pnpm-workspace.yaml -delete \
 && find . -type d -empty -delete

# Without optional dependencies: these are the embedded Postgres.
FROM build AS production
COPY --from=manifests /app ./
RUN --mount=type=cache,id=pnpm,target=/pnpm/store \
    pnpm install --frozen-lockfile --prod --no-optional --filter '@attribution/image...' --filter '@attribution/ops...' \
      --filter-prod '{./services/*}...' --store-dir "$PNPM_STORE" --package-import-method copy

FROM build AS clients
COPY --from=manifests /app ./
RUN --mount=type=cache,id=pnpm,target=/pnpm/store \
    pnpm install --frozen-lockfile --filter attribution-platform \
      --store-dir "$PNPM_STORE" --package-import-method copy
COPY services services
COPY libs libs
# Prisma looks for an engine binary that generating does not need (ADR 3), and for other generators in the PATH.
RUN for service in services/*/; do \
      [ -d "$service/prisma" ] || continue; \
      (cd "$service" && PATH="/app/node_modules/.bin:$PATH" PRISMA_SCHEMA_ENGINE_BINARY=/bin/true CHECKPOINT_DISABLE=1 PRISMA_HIDE_UPDATE_MESSAGE=1 \
        node /app/node_modules/prisma/build/index.js generate) || exit 1; \
    done

FROM base
LABEL org.opencontainers.image.title="attribution-platform" \
      org.opencontainers.image.licenses="Apache-2.0"
# FFmpeg decodes videos, as a program of its own that campaign's worker starts.
RUN apt-get update \
 && apt-get install --yes --no-install-recommends ffmpeg \
 && rm -rf /var/lib/apt/lists/*
# The image installs no packages at run time, and an attacker could use the package managers.
RUN rm -rf /usr/local/lib/node_modules /usr/local/bin/npm /usr/local/bin/npx /opt/yarn-* /usr/local/bin/yarn /usr/local/bin/yarnpkg \
 && install -d -o node -g node /var/lib/payments /var/lib/media
COPY --from=production /app ./
COPY package.json LICENSE ./
COPY gateway gateway
COPY libs libs
COPY services services
COPY infra/image infra/image
COPY infra/ops infra/ops
COPY infra/image/bin/ops /usr/local/bin/ops
COPY --from=clients /app/services services

# The root file system may be read-only. Uploads are spooled to /tmp, which must be writable: a tmpfs or an emptyDir.
# NODE_OPTIONS sets the size of the heap where the container's memory is set: in docker-compose.yml and k8s/base.
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080 ROLE=all
USER node
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s --start-interval=1s --retries=3 \
  CMD ["node", "infra/image/src/healthcheck.ts"]
CMD ["node", "--disable-warning=ExperimentalWarning", "--disable-warning=TimeoutNegativeWarning", "infra/image/src/main.ts"]
