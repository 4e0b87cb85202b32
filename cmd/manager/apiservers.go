package main

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// discoveryTimeout bounds the request for the addresses of the API server.
const discoveryTimeout = 30 * time.Second

// apiServers returns the API server's addresses that need no permission to read endpoints: its
// Service's, which the kubelet sets in every Pod, and those advertised in its discovery
// document.
func apiServers(ctx context.Context, client rest.Interface) ([]netip.Addr, error) {
	ctx, cancel := context.WithTimeout(ctx, discoveryTimeout)
	defer cancel()
	var versions metav1.APIVersions
	if err := client.Get().AbsPath("/api").Do(ctx).Into(&versions); err != nil {
		return nil, fmt.Errorf("read the addresses of the API server: %w", err)
	}
	hosts := []string{os.Getenv("KUBERNETES_SERVICE_HOST")}
	for _, advertised := range versions.ServerAddressByClientCIDRs {
		if host, _, err := net.SplitHostPort(advertised.ServerAddress); err == nil {
			hosts = append(hosts, host)
		}
	}
	var addresses []netip.Addr
	for _, host := range hosts {
		if address, err := netip.ParseAddr(host); err == nil {
			addresses = append(addresses, address)
		}
	}
	return addresses, nil
}
