package sinkhole

import (
	"net/netip"
	"testing"
)

// TestMetadata: only questions for which machine this is are told from those for what it
// may do.
func TestMetadata(t *testing.T) {
	for _, tc := range []struct {
		to, named, request string
		service            string
		identity           bool
	}{
		{"169.254.169.254", "", "PUT /latest/api/token HTTP/1.1", "169.254.169.254", true},
		{"169.254.169.254", "", "GET /latest/dynamic/instance-identity/document HTTP/1.1", "169.254.169.254", true},
		{"::ffff:169.254.169.254", "", "GET /latest/meta-data/placement/region HTTP/1.1", "169.254.169.254", true},
		{"169.254.169.254", "", "GET /metadata/instance/compute?api-version=2021-12-13&format=json HTTP/1.1", "169.254.169.254", true},
		{"28.1.2.3", "metadata.google.internal", "GET /computeMetadata/v1/instance/ HTTP/1.1", "metadata.google.internal", true},
		{"100.100.100.200", "", "GET /latest/meta-data/hostname HTTP/1.1", "100.100.100.200", true},
		{"169.254.169.254", "", "GET /latest/meta-data/iam/security-credentials/ HTTP/1.1", "169.254.169.254", false},
		{"169.254.169.254", "", "GET /latest/meta-data/hostname/../iam/info HTTP/1.1", "169.254.169.254", false},
		{"169.254.169.254", "", "GET /latest/user-data HTTP/1.1", "169.254.169.254", false},
		{"169.254.169.254", "", "GET /metadata/identity/oauth2/token?resource=x HTTP/1.1", "169.254.169.254", false},
		{"169.254.170.2", "", "GET /v2/credentials/x HTTP/1.1", "169.254.170.2", false},
		{"28.1.2.3", "metadata.google.internal", "GET /computeMetadata/v1/instance/service-accounts/default/token HTTP/1.1", "metadata.google.internal", false},
		{"28.1.2.3", "metadata.google.internal", "GET /computeMetadata/v1/instance/?recursive=true HTTP/1.1", "metadata.google.internal", false},
		{"28.1.2.3", "metadata.google.internal", "POST /computeMetadata/v1/instance HTTP/1.1", "metadata.google.internal", false},
		{"169.254.169.254", "", "hello", "169.254.169.254", false},
		{"28.1.2.3", "api.example", "GET /latest/meta-data/hostname HTTP/1.1", "", false},
	} {
		c := Capture{Destination: netip.AddrPortFrom(netip.MustParseAddr(tc.to), 80), Named: tc.named, Request: tc.request, Size: 1}
		if service, identity := c.Metadata(); service != tc.service || identity != tc.identity {
			t.Errorf("%s %s: %q, %t", tc.to, tc.request, service, identity)
		}
	}
	if service, _ := (Capture{Destination: netip.MustParseAddrPort("169.254.169.254:80")}).Metadata(); service != "" {
		t.Error("a connection that brought nothing asked something")
	}
}
