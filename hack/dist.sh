#!/usr/bin/env bash
# Makes a release in dist/: the command line, the images as OCI archives, the chart,
# install.yaml, the SBOM and their checksums. The same sources give the same files,
# byte for byte, in any folder (docs/releases.md). VERSION, COMMIT and
# SOURCE_DATE_EPOCH are git's where they are not set; DEBIAN_LOCK is a file instead of
# hack/images/debian.lock, with its whole path. With SIGNING_KEY, a file with a private
# key in PEM form, SHA256SUMS is signed.  Usage: dist.sh [FOLDER]
set -euo pipefail
cd "$(dirname "$0")/.."
dist=$(mkdir -p "${1:-dist}" && cd "${1:-dist}" && pwd)
umask 022
export SIGNING_KEY_PASSWORD=${SIGNING_KEY_PASSWORD:-} # others can read a command line
if [ -n "${SIGNING_KEY:-}" ] && ! openssl pkey -in "$SIGNING_KEY" -noout -passin env:SIGNING_KEY_PASSWORD 2>/dev/null; then
	echo "dist: SIGNING_KEY=$SIGNING_KEY is no private key in PEM form, or SIGNING_KEY_PASSWORD is not its password" >&2
	exit 1
fi
export LC_ALL=C TZ=UTC CGO_ENABLED=0 GOFLAGS=-buildvcs=false

: "${VERSION:=$(git describe --tags --always --dirty)}"
: "${COMMIT:=$(git rev-parse HEAD)}"
: "${SOURCE_DATE_EPOCH:=$(git log -1 --format=%ct)}"
export VERSION COMMIT SOURCE_DATE_EPOCH
: "${PLATFORMS:=linux/amd64,linux/arm64}"
# A tag such as v1.2.3 is the chart's version; whatever else is before all releases.
chart_version=${VERSION#v}
[[ $chart_version =~ ^[0-9]+\.[0-9]+\.[0-9]+([-+][0-9A-Za-z.+-]+)?$ ]] || chart_version=0.0.0-g${VERSION//[^0-9A-Za-z-]/-}

rm -f "$dist"/{mcpaudit-linux-*,kubectl-mcpaudit-linux-*,*.oci.tar,mcp-audit-operator-*.tgz,install.yaml,images.txt,sbom.cdx.json,SHA256SUMS,SHA256SUMS.sig}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

build=github.com/mcpaudit/mcpaudit/runner/build
for platform in ${PLATFORMS//,/ }; do
	file=mcpaudit-${platform//\//-}
	GOOS=${platform%/*} GOARCH=${platform#*/} go build -trimpath -ldflags "-s -w -X $build.version=$VERSION -X $build.commit=$COMMIT" -o "$dist/$file" ./cmd/mcpaudit
	ln "$dist/$file" "$dist/kubectl-$file" # one program: kubectl finds it by this name
done

go run ./hack/images release --dir "$dist" --platforms "$PLATFORMS" --programs "$work/programs" >"$dist/images.txt"

# An overlay outside the tree: config/ stays as it is committed.
cp -r config "$work/"
{
	echo "resources: [config/default]"
	echo "configurations: [config/manager/kustomizeconfig.yaml]"
	echo "images:"
	sed -E 's#^(.*/([a-z]+)):([^:]*)@(.*)$#- {name: ghcr.io/mcpaudit/\2, newName: \1, digest: "\4"}#' "$dist/images.txt"
} >"$work/kustomization.yaml"
go tool -modfile=hack/tools/go.mod kustomize build "$work" >"$dist/install.yaml"

# The packaged chart installs the images of this release by digest.
cp -r charts/mcp-audit-operator "$work/chart"
while IFS=@ read -r image digest; do
	name=${image##*/}
	sed -i "/^${name%%:*}:/,/digest:/ s/digest: \"\"/digest: \"$digest\"/" "$work/chart/values.yaml"
done <"$dist/images.txt"
hack/helm.sh package "$work/chart" --version "$chart_version" --app-version "$VERSION" --destination "$work" >/dev/null
# helm packs with the current time: pack again with ours, Chart.yaml first, as readers of streams expect.
mkdir "$work/packed"
tar -xzf "$work/mcp-audit-operator-$chart_version.tgz" -C "$work/packed"
(cd "$work/packed" && { echo mcp-audit-operator/Chart.yaml; find mcp-audit-operator -type f ! -path mcp-audit-operator/Chart.yaml | sort; } |
	tar -c --format=ustar --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --mode=0644 -T - | gzip -9n) >"$dist/mcp-audit-operator-$chart_version.tgz"
go -C hack/dist run . "$dist" "$work/programs" "${DEBIAN_LOCK:-$PWD/hack/images/debian.lock}" >"$dist/sbom.cdx.json"

(cd "$dist" && sha256sum -- mcpaudit-* kubectl-mcpaudit-* *.oci.tar *.tgz install.yaml images.txt sbom.cdx.json >SHA256SUMS)
if [ -n "${SIGNING_KEY:-}" ]; then # ASN.1 signature over SHA-256 in base64, as "cosign sign-blob" makes it
	openssl dgst -sha256 -sign "$SIGNING_KEY" -passin env:SIGNING_KEY_PASSWORD "$dist/SHA256SUMS" | base64 -w0 >"$dist/SHA256SUMS.sig"
fi
echo "dist: $VERSION in $dist" >&2
