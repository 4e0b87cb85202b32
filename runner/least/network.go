package least

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/places"
)

// The labels of the cluster's name servers, as kubeadm and the distributions set them.
const dnsNamespace, dnsApp = "kube-system", "kube-dns"

// unroutable are the blocks outside the internet (RFC 1918, RFC 6598, RFC 3927; RFC 4193, RFC 4291): a policy
// that has to allow any address opens neither the cluster nor the metadata service of a cloud.
var (
	unroutable4 = []string{"10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16"}
	unroutable6 = []string{"::1/128", "fc00::/7", "fe80::/10"}
)

// selected returns the labels of the Pods.
func (b basis) selected() map[string]any {
	key, value, _ := strings.Cut(b.Selector, "=")
	return map[string]any{key: value}
}

// served returns the TCP ports on which the server takes connections from outside its Pod, as port
// formats them. It notes to whom they are open.
func (b basis) served(port func(protocol string, number int) map[string]any) []any {
	var ports []int
	for _, p := range b.needs.Listens {
		if p.Protocol == "tcp" {
			ports = append(ports, p.Port)
		}
	}
	slices.Sort(ports)
	var list []any
	for _, number := range slices.Compact(ports) {
		list = append(list, port("TCP", number))
	}
	if len(list) > 0 {
		b.note("ingress: who calls the server, no audit can know: it is open to the Pods of its namespace. Narrow it to the clients.")
	}
	return list
}

// networkPolicy allows addresses. It cannot name hosts (NetworkPolicyPeer): for these it allows the port
// on the whole internet, and notes that.
func networkPolicy(b basis) (string, error) {
	egress, ingress := []any{}, []any{}
	if b.dns {
		egress = append(egress, map[string]any{
			"to": []any{map[string]any{
				"namespaceSelector": map[string]any{"matchLabels": map[string]any{"kubernetes.io/metadata.name": dnsNamespace}},
				"podSelector":       map[string]any{"matchLabels": map[string]any{"k8s-app": dnsApp}},
			}},
			"ports": []any{port("UDP", places.PortDNS), port("TCP", places.PortDNS)},
		})
	}
	var seen []destination
	for _, d := range b.egress {
		if d.host != "" {
			b.note("NetworkPolicy knows no names: for %s it allows the port on the whole internet. Use --type cilium where there is Cilium.", d.host)
			d.host = ""
		}
		if slices.Contains(seen, d) {
			continue
		}
		seen = append(seen, d)
		rule := map[string]any{"to": peers(d)}
		if d.port > 0 {
			rule["ports"] = []any{port(strings.ToUpper(d.protocol), d.port)}
		}
		egress = append(egress, rule)
	}
	if list := b.served(port); len(list) > 0 {
		ingress = append(ingress, map[string]any{"from": []any{map[string]any{"podSelector": map[string]any{}}}, "ports": list})
	}
	b.note("A network policy is enforced by the cluster's network plugin, if that does so at all.")
	return b.object("networking.k8s.io/v1", "NetworkPolicy", map[string]any{
		"podSelector": map[string]any{"matchLabels": b.selected()},
		"policyTypes": []string{"Ingress", "Egress"}, "egress": egress, "ingress": ingress,
	})
}

func port(protocol string, number int) map[string]any {
	return map[string]any{"protocol": protocol, "port": number}
}

// peers returns a block, or all public addresses.
func peers(d destination) []any {
	if d.prefix.IsValid() {
		return []any{map[string]any{"ipBlock": map[string]any{"cidr": d.prefix.String()}}}
	}
	return []any{
		map[string]any{"ipBlock": map[string]any{"cidr": "0.0.0.0/0", "except": unroutable4}},
		map[string]any{"ipBlock": map[string]any{"cidr": "::/0", "except": unroutable6}},
	}
}

// ciliumPolicy allows names, which Cilium resolves by the Pod's own DNS queries.
func ciliumPolicy(b basis) (string, error) {
	var egress, ingress []any
	var names []any
	for _, d := range b.egress {
		rule := map[string]any{}
		if d.host != "" {
			names = append(names, name(d.host))
			rule["toFQDNs"] = []any{name(d.host)}
		} else {
			rule["toCIDR"] = []any{d.prefix.String()}
		}
		if d.port > 0 {
			rule["toPorts"] = []any{map[string]any{"ports": []any{ciliumPort(strings.ToUpper(d.protocol), d.port)}}}
		}
		egress = append(egress, rule)
	}
	if len(names) > 0 {
		names = slices.CompactFunc(names, reflect.DeepEqual)
		egress = append([]any{map[string]any{
			"toEndpoints": []any{map[string]any{"matchLabels": map[string]any{
				"k8s:io.kubernetes.pod.namespace": dnsNamespace, "k8s:k8s-app": dnsApp}}},
			// Other names cannot be looked up, because a DNS query carries data, too.
			"toPorts": []any{map[string]any{"ports": []any{ciliumPort("ANY", places.PortDNS)}, "rules": map[string]any{"dns": names}}},
		}}, egress...)
	}
	if list := b.served(ciliumPort); len(list) > 0 {
		ingress = append(ingress, map[string]any{"fromEndpoints": []any{map[string]any{}}, "toPorts": []any{map[string]any{"ports": list}}})
	}
	// A rule that selects nothing closes a direction.
	if len(egress) == 0 {
		egress = []any{map[string]any{}}
	}
	if len(ingress) == 0 {
		ingress = []any{map[string]any{}}
	}
	return b.object("cilium.io/v2", "CiliumNetworkPolicy", map[string]any{
		"endpointSelector": map[string]any{"matchLabels": b.selected()}, "egress": egress, "ingress": ingress,
	})
}

func ciliumPort(protocol string, number int) map[string]any {
	return map[string]any{"protocol": protocol, "port": strconv.Itoa(number)}
}

func name(host string) map[string]any {
	if strings.HasPrefix(host, "*.") {
		return map[string]any{"matchPattern": host}
	}
	return map[string]any{"matchName": host}
}

// permissions is the profile of ToolHive (pkg/permissions, Profile).
type permissions struct {
	Read    []string `json:"read"`
	Write   []string `json:"write"`
	Network struct {
		Outbound outbound `json:"outbound"`
	} `json:"network"`
}

type outbound struct {
	InsecureAllowAll bool     `json:"insecure_allow_all"`
	AllowHost        []string `json:"allow_host"`
	AllowPort        []int    `json:"allow_port"`
}

// toolhive lists hosts and ports, each host with each port, because ToolHive cannot combine them. Read and
// Write are mounts of the machine's directories, which an audit in a sandbox does not know.
func toolhive(b basis) (string, error) {
	var p permissions
	p.Read, p.Write = []string{}, []string{}
	out := outbound{AllowHost: []string{}, AllowPort: []int{}}
	for _, d := range b.egress {
		host := d.host
		switch {
		case strings.HasPrefix(host, "*."):
			host = host[1:] // ".example.com": the host and all below it
		case host == "" && d.prefix.IsSingleIP():
			host = d.prefix.Addr().String()
		case host == "":
			b.note("left out: %s, for ToolHive has no blocks of addresses", d.prefix)
			continue
		}
		out.AllowHost = append(out.AllowHost, host)
		if d.port > 0 {
			out.AllowPort = append(out.AllowPort, d.port)
		}
	}
	slices.Sort(out.AllowHost)
	slices.Sort(out.AllowPort)
	out.AllowHost, out.AllowPort = slices.Compact(out.AllowHost), slices.Compact(out.AllowPort)
	p.Network.Outbound = out
	b.note("ToolHive enforces the hosts with --isolate-network only. A directory of yours that the server is to see, add to read or write.")
	return indented(struct {
		Comment []string `json:"_comment"`
		permissions
	}{append(b.origin(), b.notes.lines...), p})
}
