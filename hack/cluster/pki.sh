#!/usr/bin/env bash
# Makes the certificates and the kubeconfigs of one cluster in $STATE/pki, for
# its lifetime. EC keys: RSA would take seconds.
set -euo pipefail
cd "$(dirname "$0")"
. ./settings.sh
umask 077
mkdir -p "$STATE/pki"
cd "$STATE/pki"

key() { openssl ecparam -name prime256v1 -genkey -noout -out "$1"; }

# cert NAME SUBJECT EXTENSIONS
cert() {
	key "$1.key"
	openssl req -new -key "$1.key" -subj "$2" -out "$1.csr"
	openssl x509 -req -in "$1.csr" -CA ca.crt -CAkey ca.key -CAcreateserial -days 365 -sha256 \
		-extfile <(printf '%s\n' "$3") -out "$1.crt" 2>/dev/null
}

# config NAME SUBJECT makes a client certificate and a kubeconfig around it.
config() {
	cert "$1" "$2" extendedKeyUsage=clientAuth
	cat >"$1.kubeconfig" <<YAML
apiVersion: v1
kind: Config
clusters: [{name: $NODE, cluster: {server: "https://$NODE_IP:6443", certificate-authority-data: $(base64 -w0 ca.crt)}}]
users: [{name: $1, user: {client-certificate-data: $(base64 -w0 "$1.crt"), client-key-data: $(base64 -w0 "$1.key")}}]
contexts: [{name: $NODE, context: {cluster: $NODE, user: $1}}]
current-context: $NODE
YAML
}

key ca.key
openssl req -x509 -new -key ca.key -sha256 -days 365 -subj "/CN=$NODE-ca" -out ca.crt
service=kubernetes.default.svc
cert apiserver /CN=kube-apiserver "extendedKeyUsage=serverAuth
subjectAltName=DNS:localhost,DNS:kubernetes,DNS:kubernetes.default,DNS:$service,DNS:$service.cluster.local,IP:127.0.0.1,IP:$NODE_IP,IP:$API_SERVICE_IP"
cert kubelet-serving "/O=system:nodes/CN=system:node:$NODE" "extendedKeyUsage=serverAuth
subjectAltName=DNS:$NODE,IP:127.0.0.1,IP:$NODE_IP"
cert apiserver-kubelet /O=system:masters/CN=kube-apiserver-kubelet-client extendedKeyUsage=clientAuth
cert front-proxy /CN=front-proxy-client extendedKeyUsage=clientAuth
key sa.key
openssl ec -in sa.key -pubout -out sa.pub 2>/dev/null

config admin /O=system:masters/CN=admin
config controller-manager /CN=system:kube-controller-manager
config scheduler /CN=system:kube-scheduler
config proxy /CN=system:kube-proxy
config kubelet "/O=system:nodes/CN=system:node:$NODE"
config dns /O=system:masters/CN=dns
