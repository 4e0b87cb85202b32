#!/usr/bin/env bash
# Takes the cluster down: one kill ends its processes, mounts, namespaces and
# links; then its cgroups, files and the machine's sysctls. Cgroups that a lost
# cluster has left go as well. --locked: the caller holds the lock.
set -uo pipefail
cd "$(dirname "$0")" || exit
. ./settings.sh
as_root "$@"
[ "${1:-}" = --locked ] || lock

end_processes() {
	local file pid tries
	for file in node.pid unshare.pid; do
		pid=$(alive "$STATE/$file") || continue
		kill -KILL "$pid"
		for ((tries = 0; tries < 200; tries++)); do
			alive "$STATE/$file" >/dev/null || break
			sleep 0.05
		done
	done
	ip link delete "$LINK" 2>/dev/null # a moment earlier than its namespace would
}

remove_cgroups() {
	local hierarchy tries controller
	for hierarchy in /sys/fs/cgroup /sys/fs/cgroup/*; do
		for ((tries = 0; tries < 100; tries++)); do
			[ -d "$hierarchy/$NODE" ] || break
			find "$hierarchy/$NODE" -depth -type d -exec rmdir {} + 2>/dev/null
			sleep 0.05
		done
		[ ! -d "$hierarchy/$NODE" ] || say "left over: $hierarchy/$NODE"
	done
	[ -e "$STATE/subtree_control.saved" ] || return
	tr ' ' '\n' </sys/fs/cgroup/cgroup.subtree_control | while read -r controller; do
		grep -qw "$controller" "$STATE/subtree_control.saved" || echo "-$controller" >/sys/fs/cgroup/cgroup.subtree_control
	done
}

restore_machine() {
	local line
	if [ -e "$STATE/sysctl.saved" ]; then
		while read -r line; do sysctl -qw "$line"; done <"$STATE/sysctl.saved"
	fi
	if [ -e "$STATE/directories.made" ]; then
		while read -r line; do rmdir "$line" 2>/dev/null; done <"$STATE/directories.made"
	fi
}

# abandoned reports whether there are cgroups of ours without a process: a
# machine that was stopped with its cluster up may have lost $STATE and kept them.
abandoned() {
	compgen -G "/sys/fs/cgroup/*/$NODE" >/dev/null || [ -d "/sys/fs/cgroup/$NODE" ] || return 1
	! find /sys/fs/cgroup -path "*/$NODE/*" -name cgroup.procs -exec cat {} + 2>/dev/null | grep -q .
}

if [ ! -e "$STATE" ]; then
	if abandoned; then remove_cgroups; fi
	say "not up"
	exit 0
fi
end_processes
remove_cgroups
restore_machine
if [ -n "${KEEP_LOGS:-}" ]; then
	rm -rf "$CACHE/last-logs"
	cp -a "$STATE/logs" "$CACHE/last-logs"
fi
rm -rf "$STATE"
say "down"
