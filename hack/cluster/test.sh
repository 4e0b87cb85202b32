#!/usr/bin/env bash
# Shows that up.sh and down.sh keep their word: up twice, up after a killed
# start and after a dead node, and down without a trace on the machine.
set -euo pipefail
cd "$(dirname "$0")"
. ./settings.sh
as_root "$@"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# in_node reports whether a process is in a Pod: others on the machine come and go.
in_node() { grep -qE ":/$NODE(/|$)" "/proc/$1/cgroup" 2>/dev/null; }

# snapshot prints what a cluster could leave behind.
snapshot() {
	echo "# processes"
	pgrep -af "$STATE/|containerd|node\.sh|unshare --mount" | cut -d' ' -f2- | sort || true
	echo "# mounts"
	sort /proc/mounts
	echo "# namespaces that processes hold"
	lsns -n -o TYPE,PID,COMMAND | while read -r type pid command; do
		[[ $command == *"$STATE/"* || $command == *node.sh* ]] || in_node "$pid" || continue
		echo "$type $command"
	done | sort
	echo "# named network namespaces"
	ip netns list
	echo "# cgroups"
	find /sys/fs/cgroup -maxdepth 2 -type d -name "$NODE*"
	[ ! -e /sys/fs/cgroup/cgroup.subtree_control ] || cat /sys/fs/cgroup/cgroup.subtree_control
	echo "# links, addresses, routes, rules"
	ip -o link show | grep -vE "^[0-9]+: (veth|docker|br-)" | cut -d: -f2
	ip -o address show | awk '{print $2, $4}'
	ip route show table all | grep -v "^fe80\|^multicast\|^ff00" | sort
	nft list ruleset
	echo "# sysctls"
	sysctl "${SYSCTLS[@]}" net.ipv4.ip_forward
	echo "# directories"
	ls -d /var/lib/kubelet /var/lib/cni /var/log/pods /var/log/containers 2>/dev/null || true
	ls -A /run/containerd /run/netns 2>/dev/null || true
	[ ! -e "$STATE" ] || echo "$STATE"
}

check() {
	local what=$1
	shift
	if "$@" >"$work/out" 2>&1; then
		echo "ok    $what"
	else
		echo "FAIL  $what"
		cat "$work/out"
		exit 1
	fi
}

# says TEXT COMMAND... looks at what the command prints, not at how it exits.
says() {
	local text=$1 printed
	shift
	printed=$("$@" 2>&1) || true
	echo "$printed"
	[[ $printed == *"$text"* ]]
}

# cut_short kills an up.sh, and nothing that it has started, once FILE is there.
cut_short() {
	setsid ./up.sh >/dev/null 2>&1 &
	local up=$! deadline=$((SECONDS + 120))
	until [ -e "$STATE/$1" ]; do
		kill -0 "$up" && ((SECONDS < deadline)) || return 1
		sleep 0.01
	done
	kill -KILL "$up"
	wait "$up" || true
}

differs() { ! diff "$work/before" <(snapshot); }

node_is_gone() {
	kill -KILL "$(alive "$STATE/node.pid")"
	while alive "$STATE/node.pid" >/dev/null; do sleep 0.05; done
}

# lost_cgroups leaves what a cluster leaves whose machine stopped and lost $STATE.
lost_cgroups() {
	local hierarchy
	for hierarchy in /sys/fs/cgroup /sys/fs/cgroup/*; do
		[ ! -e "$hierarchy/cgroup.procs" ] || mkdir -p "$hierarchy/$NODE/kubepods/pod"
	done
}

./down.sh
./build.sh >/dev/null
snapshot >"$work/before"
check "down.sh of nothing says so" says "not up" ./down.sh
check "a lost cluster's cgroups are there" lost_cgroups
check "a snapshot sees them" differs
check "down.sh of a lost cluster" ./down.sh
check "nothing is left" diff "$work/before" <(snapshot)
check "up.sh" ./up.sh
check "up.sh again leaves it alone" says "already up" ./up.sh
check "up.sh --status" ./up.sh --status
check "a snapshot sees it" differs
check "the node dies" node_is_gone
check "up.sh --status fails" says "not up" ./up.sh --status
check "up.sh starts it again" says "node Ready" ./up.sh
check "down.sh" ./down.sh
check "nothing is left" diff "$work/before" <(snapshot)
for file in sysctl.saved node.pid link.ready node.started; do
	check "up.sh is killed once there is $file" cut_short "$file"
	check "down.sh of a half-started one" ./down.sh
	check "nothing is left" diff "$work/before" <(snapshot)
done
check "up.sh is killed once there is node.waiting" cut_short node.waiting
check "up.sh starts over" says "node Ready" ./up.sh
check "down.sh" ./down.sh
check "nothing is left" diff "$work/before" <(snapshot)
