# The images of the operator:
#
#   docker build --target manager -t REGISTRY/mcpaudit/manager:TAG .
#   docker build --target runner  -t REGISTRY/mcpaudit/runner:TAG .
#
# hack/images builds the same contents without a daemon: change both together.

ARG GO_IMAGE=golang:1.26.8-bookworm
ARG DEBIAN_IMAGE=debian:12.12-slim
ARG STATIC_IMAGE=gcr.io/distroless/static-debian12:nonroot

# Compiles on the machine's own architecture for the one that is asked for.
FROM --platform=$BUILDPLATFORM ${GO_IMAGE} AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG TARGETOS=linux
ARG TARGETARCH
ARG VERSION=dev
ARG COMMIT
ENV CGO_ENABLED=0 GOOS=${TARGETOS} GOARCH=${TARGETARCH}
RUN go build -trimpath -buildvcs=false \
      -ldflags "-s -w -X github.com/mcpaudit/mcpaudit/runner/build.version=${VERSION} -X github.com/mcpaudit/mcpaudit/runner/build.commit=${COMMIT}" \
      -o /out/ ./cmd/manager ./cmd/gate ./cmd/runner

FROM ${STATIC_IMAGE} AS manager
COPY --from=build /out/manager /out/gate /
USER 65532:65532
ENTRYPOINT ["/manager"]

# The runner's tracer is Debian's strace, at the version that the parser was
# measured against.
FROM ${DEBIAN_IMAGE} AS runner
ARG STRACE_VERSION=6.1-0.1
RUN apt-get update \
 && apt-get install -y --no-install-recommends ca-certificates strace=${STRACE_VERSION} \
 && rm -rf /var/lib/apt/lists/* \
 && groupadd --gid 65532 nonroot \
 && useradd --uid 65532 --gid 65532 --create-home --shell /usr/sbin/nologin nonroot \
 && mkdir -p /opt/runtime/bin /opt/runtime/run /opt/runtime/trace /home/ellis
COPY --from=build /out/runner /mcpaudit-runner
USER 65532:65532
ENTRYPOINT ["/mcpaudit-runner"]
