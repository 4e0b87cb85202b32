#!/usr/bin/env bash
# The first process of the node's own mount, PID, network, UTS and IPC
# namespaces, started by up.sh. When it ends, so does everything in them.
set -euo pipefail
cd "$(dirname "$0")"
. ./settings.sh
bin=$(bin_dir)
pki=$STATE/pki conf=$STATE/conf

# await SECONDS COMMAND... polls; a node whose up.sh was killed ends itself.
await() {
	local tries=$(($1 * 20))
	shift
	until "$@"; do
		((tries-- > 0)) || die "gave up waiting for: $*"
		sleep 0.05
	done
}

# spawn NAME COMMAND... starts a program of the node, with a log of its own.
spawn() {
	local name=$1
	shift
	"$@" >>"$STATE/logs/$name.log" 2>&1 &
}

mounts() {
	mount --make-rprivate /
	# a sysfs of this network namespace, with the machine's cgroups kept
	mkdir -p "$STATE/cgroup"
	mount --rbind /sys/fs/cgroup "$STATE/cgroup"
	mount -t sysfs sysfs /sys
	mount --rbind "$STATE/cgroup" /sys/fs/cgroup
	umount -l "$STATE/cgroup"
	# for the kubelet's mount propagation; only now, as the umount above would
	# otherwise take /sys/fs/cgroup with it
	mount --make-rshared /
	mount -t tmpfs -o mode=755 tmpfs /run
	mkdir -p /run/lock /run/netns /run/etcd
	local dir
	for dir in /var/lib/kubelet /var/lib/cni /var/log/pods /var/log/containers; do
		mkdir -p "$STATE/fs$dir"
		mount --bind "$STATE/fs$dir" "$dir"
	done
}

# apiserver keeps its process id, for it is started again when it ends.
apiserver() {
	spawn apiserver "$bin/kube-apiserver" --etcd-servers=http://127.0.0.1:2379 \
		--bind-address=0.0.0.0 --secure-port=6443 --advertise-address="$NODE_IP" \
		--tls-cert-file="$pki/apiserver.crt" --tls-private-key-file="$pki/apiserver.key" --client-ca-file="$pki/ca.crt" \
		--kubelet-client-certificate="$pki/apiserver-kubelet.crt" --kubelet-client-key="$pki/apiserver-kubelet.key" \
		--kubelet-certificate-authority="$pki/ca.crt" --kubelet-preferred-address-types=InternalIP \
		--requestheader-client-ca-file="$pki/ca.crt" --requestheader-allowed-names=front-proxy-client \
		--requestheader-username-headers=X-Remote-User --requestheader-group-headers=X-Remote-Group \
		--requestheader-extra-headers-prefix=X-Remote-Extra- \
		--proxy-client-cert-file="$pki/front-proxy.crt" --proxy-client-key-file="$pki/front-proxy.key" \
		--service-account-issuer=https://kubernetes.default.svc.cluster.local \
		--service-account-key-file="$pki/sa.pub" --service-account-signing-key-file="$pki/sa.key" \
		--service-cluster-ip-range="$SERVICE_CIDR" --authorization-mode=Node,RBAC --enable-admission-plugins=NodeRestriction \
		--allow-privileged=true --enable-aggregator-routing=true --profiling=false
	apiserver=$!
}

control_plane() {
	spawn etcd "$bin/etcd" --name "$NODE" --data-dir /run/etcd --unsafe-no-fsync --log-level warn \
		--listen-client-urls http://127.0.0.1:2379 --advertise-client-urls http://127.0.0.1:2379 \
		--listen-peer-urls http://127.0.0.1:2380 --initial-advertise-peer-urls http://127.0.0.1:2380 \
		--initial-cluster "$NODE=http://127.0.0.1:2380"
	apiserver
	await 120 curl -sf -o /dev/null --cacert "$pki/ca.crt" --cert "$pki/admin.crt" --key "$pki/admin.key" https://127.0.0.1:6443/readyz
	# the default rate would take seconds to make the first service accounts
	spawn controller-manager "$bin/kube-controller-manager" --kubeconfig="$pki/controller-manager.kubeconfig" --leader-elect=false \
		--kube-api-qps=300 --kube-api-burst=500 --use-service-account-credentials=true \
		--authentication-kubeconfig="$pki/controller-manager.kubeconfig" --authorization-kubeconfig="$pki/controller-manager.kubeconfig" \
		--service-account-private-key-file="$pki/sa.key" --root-ca-file="$pki/ca.crt" \
		--cluster-signing-cert-file="$pki/ca.crt" --cluster-signing-key-file="$pki/ca.key" \
		--service-cluster-ip-range="$SERVICE_CIDR" --profiling=false
	spawn scheduler "$bin/kube-scheduler" --kubeconfig="$pki/scheduler.kubeconfig" --leader-elect=false \
		--authentication-kubeconfig="$pki/scheduler.kubeconfig" --authorization-kubeconfig="$pki/scheduler.kubeconfig"
}

workers() {
	await 60 ctr -a /run/containerd/containerd.sock -n k8s.io images import "$STATE/pause.tar" >>"$STATE/logs/import.log" 2>&1
	spawn kubelet "$bin/kubelet" --config="$conf/kubelet.yaml" --kubeconfig="$pki/kubelet.kubeconfig" \
		--hostname-override="$NODE" --node-ip="$NODE_IP" --root-dir=/var/lib/kubelet --v=2
	spawn proxy "$bin/kube-proxy" --config="$conf/proxy.yaml" --hostname-override="$NODE"
	spawn coredns "$bin/coredns" -conf "$conf/Corefile"
}

mounts
hostname "$NODE"
ip link set lo up
touch "$STATE/node.waiting"
await 30 test -e "$STATE/link.ready" # up.sh hands over eth0
sysctl -qw net.ipv4.ip_forward=1
[ ! -e /proc/sys/net/bridge/bridge-nf-call-iptables ] || sysctl -qw net.bridge.bridge-nf-call-iptables=1
spawn containerd containerd --config "$conf/containerd.toml"
control_plane
workers
touch "$STATE/node.started"
# Reaps what the programs leave, starts the API server again as a kubelet does with a
# static Pod, and lives until it is killed.
while :; do
	wait -n || sleep 1
	kill -0 "$apiserver" 2>/dev/null || apiserver
done
