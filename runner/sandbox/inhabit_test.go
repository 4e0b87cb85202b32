package sandbox

import "testing"

func TestSearching(t *testing.T) {
	for text, want := range map[string]string{
		"nameserver 192.0.2.1\n":                              "nameserver 192.0.2.1\noptions edns0 trust-ad\nsearch lan\n",
		"search ns.svc.cluster.local\nnameserver 192.0.2.1\n": "search ns.svc.cluster.local\nnameserver 192.0.2.1\n",
		"domain corp.example":                                 "domain corp.example",
	} {
		if got := string(searching([]byte(text))); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
