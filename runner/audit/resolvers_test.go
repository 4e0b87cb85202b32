package audit

import (
	"fmt"
	"testing"
)

func TestNameservers(t *testing.T) {
	for text, want := range map[string]string{
		"":                         "[]",
		"nameserver\nnameserver x": "[]",
		"# nameserver 192.0.2.1\nsearch a b\nnameserver 10.96.0.10\n\tnameserver  fe80::1%eth0 # c\nnameserver ::ffff:192.0.2.1": "[10.96.0.10 fe80::1 192.0.2.1]",
	} {
		if got := fmt.Sprint(nameservers([]byte(text)).servers); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

func TestSearch(t *testing.T) {
	for text, want := range map[string]string{
		"nameserver 192.0.2.1": "[lan]",
		"search ns.svc.cluster.local Corp.Example.\nsearch corp.example lab.example": "[corp.example lab.example]",
		"domain corp.example": "[corp.example]",
	} {
		if got := fmt.Sprint(nameservers([]byte(text)).search); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
