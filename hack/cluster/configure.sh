#!/usr/bin/env bash
# Writes the configuration of the node's programs into $STATE/conf.
set -euo pipefail
cd "$(dirname "$0")"
. ./settings.sh
mkdir -p "$STATE"/conf/{cni,registries}
cd "$STATE/conf"

# Without CAP_SYS_RESOURCE, as in many sandboxes, no score may be lowered.
cat >containerd.toml <<TOML
version = 2
root = "$STATE/containerd"
state = "/run/containerd"
oom_score = 0
disabled_plugins = ["io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.zfs", "io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.devmapper", "io.containerd.internal.v1.tracing", "io.containerd.tracing.processor.v1.otlp"]
[grpc]
  address = "/run/containerd/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "mcpaudit.local/pause:1"
  restrict_oom_score_adj = true
  disable_apparmor = true
  [plugins."io.containerd.grpc.v1.cri".registry]
    config_path = "$STATE/conf/registries"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "$STATE/conf/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
    default_runtime_name = "runc"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        BinaryName = "runc"
        SystemdCgroup = false
TOML

# Plain HTTP, for these two addresses alone.
for registry in "$REGISTRY" "$TEST_REGISTRY"; do
	mkdir -p "registries/$registry"
	cat >"registries/$registry/hosts.toml" <<TOML
server = "http://$registry"
[host."http://$registry"]
  capabilities = ["pull", "resolve"]
TOML
done

cat >cni/10-bridge.conflist <<JSON
{"cniVersion": "1.0.0", "name": "$NODE", "plugins": [
  {"type": "bridge", "bridge": "cni0", "isGateway": true, "hairpinMode": true, "ipMasq": false,
   "ipam": {"type": "host-local", "ranges": [[{"subnet": "$POD_CIDR"}]], "routes": [{"dst": "0.0.0.0/0"}], "dataDir": "/run/cni-ipam"}},
  {"type": "portmap", "capabilities": {"portMappings": true}}]}
JSON

printf 'nameserver %s\n' "$NODE_IP" >resolv.conf

cat >kubelet.yaml <<YAML
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
authentication: {anonymous: {enabled: false}, webhook: {enabled: true}, x509: {clientCAFile: $STATE/pki/ca.crt}}
authorization: {mode: Webhook}
tlsCertFile: $STATE/pki/kubelet-serving.crt
tlsPrivateKeyFile: $STATE/pki/kubelet-serving.key
containerRuntimeEndpoint: unix:///run/containerd/containerd.sock
cgroupDriver: cgroupfs
cgroupRoot: /$NODE
failCgroupV1: false
failSwapOn: false
oomScoreAdj: 0
podPidsLimit: 512
maxOpenFiles: $(ulimit -Hn | sed s/unlimited/1000000/)
resolvConf: $STATE/conf/resolv.conf
clusterDomain: cluster.local
clusterDNS: ["$NODE_IP"]
evictionHard: {memory.available: 100Mi, nodefs.available: 1%, imagefs.available: 1%, nodefs.inodesFree: 1%}
imageGCHighThresholdPercent: 100
imageGCLowThresholdPercent: 99
nodeStatusUpdateFrequency: 5s
syncFrequency: 10s
volumeStatsAggPeriod: 0s
serializeImagePulls: false
YAML

cat >proxy.yaml <<YAML
apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
clientConnection: {kubeconfig: $STATE/pki/proxy.kubeconfig}
mode: nftables
clusterCIDR: $POD_CIDR
conntrack: {maxPerCore: 0, min: 0}
healthzBindAddress: 127.0.0.1:10256
YAML

# No forward: a name outside the cluster is refused at once.
cat >Corefile <<CONF
.:53 {
  bind $NODE_IP
  errors
  ready 127.0.0.1:8181
  kubernetes cluster.local in-addr.arpa {
    kubeconfig $STATE/pki/dns.kubeconfig
    pods insecure
  }
  cache 5
}
CONF
