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
		if got := fmt.Sprint(nameservers([]byte(text))); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
