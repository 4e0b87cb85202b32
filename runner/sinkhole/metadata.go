package sinkhole

import (
	"cmp"
	"net/http"
	"net/netip"
	"path"
	"slices"
	"strings"
)

// MetadataHosts are the metadata services of AWS (also for ECS and EKS), Azure, Google,
// OpenStack, Alibaba and Oracle, and Azure's wire server.
var MetadataHosts = []string{
	"169.254.169.254", "fd00:ec2::254", "169.254.170.2", "169.254.170.23", "fd00:ec2::23", "fd20:ce::254",
	"168.63.129.16", "100.100.100.200", "192.0.0.192", "metadata.google.internal", "instance-data",
	"instance-data.ec2.internal", "metadata.azure.internal",
}

// isMetadata reports whether a request goes to the metadata service of a cloud.
func isMetadata(to netip.Addr, host string) bool {
	return to.IsLinkLocalUnicast() || strings.HasPrefix(host, "metadata.") || slices.Contains(MetadataHosts, to.String()) || slices.Contains(MetadataHosts, host)
}

// metadata answers as if there were no cloud: a client that found metadata here would
// rely on it. It grants only the session token of IMDSv2, which opens nothing by itself:
// the next request shows what the client wants.
func metadata(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPut || r.URL.Path != tokenPath {
		http.NotFound(w, r)
		return
	}
	const lifetime = "X-Aws-Ec2-Metadata-Token-Ttl-Seconds"
	w.Header().Set(lifetime, r.Header.Get(lifetime))
	w.Header().Set("Content-Type", asText.kind)
	_, _ = w.Write([]byte("bm90ZQ==")) // the client may be gone
}

// tokenPath is where IMDSv2 grants session tokens ("Use the Instance Metadata Service",
// Amazon EC2 User Guide).
const tokenPath = "/latest/api/token"

// identityPaths are patterns (path.Match) of metadata that identify the machine, as the
// resource detectors of OpenTelemetry and of cloud libraries read them. They contain no
// credentials, user data or attributes, which hold secrets.
var identityPaths = []string{
	"/",
	"/latest/dynamic/instance-identity/document",
	"/latest/meta-data/hostname", "/latest/meta-data/instance-id", "/latest/meta-data/instance-type", "/latest/meta-data/local-hostname",
	"/latest/meta-data/placement/*", "/latest/meta-data/region-id", "/latest/meta-data/zone-id",
	"/computeMetadata/v1", "/computeMetadata/v1/instance", "/computeMetadata/v1/instance/hostname", "/computeMetadata/v1/instance/id",
	"/computeMetadata/v1/instance/machine-type", "/computeMetadata/v1/instance/name", "/computeMetadata/v1/instance/region",
	"/computeMetadata/v1/instance/zone", "/computeMetadata/v1/instance/attributes/cluster-*",
	"/computeMetadata/v1/project/numeric-project-id", "/computeMetadata/v1/project/project-id",
	"/metadata/instance", "/metadata/instance/compute",
}

// Metadata returns the metadata service that a capture went to, by name or else by
// address, and whether the request only asked for the machine's identity. service is ""
// for other captures and those without a request.
func (c Capture) Metadata() (service string, identity bool) {
	service = cmp.Or(c.Named, c.Destination.Addr().Unmap().String())
	if c.Size == 0 || !slices.Contains(MetadataHosts, service) {
		return "", false
	}
	method, rest, _ := strings.Cut(c.Request, " ")
	asked, protocol, _ := strings.Cut(rest, " ")
	asked, query, _ := strings.Cut(asked, "?")
	if !strings.HasPrefix(protocol, "HTTP/") || strings.Contains(query, "recursive") { // with all that lies below
		return service, false
	}
	if method == http.MethodPut {
		return service, asked == tokenPath
	}
	if len(asked) > 1 {
		asked = strings.TrimSuffix(asked, "/")
	}
	return service, method == http.MethodGet && slices.ContainsFunc(identityPaths, func(pattern string) bool {
		is, _ := path.Match(pattern, asked) // the patterns are good
		return is
	})
}
