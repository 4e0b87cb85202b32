package sinkhole

import (
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

func TestUnlikely(t *testing.T) {
	for _, host := range []string{
		"xkqzjvwpth.com", "q8z3kfj2xw9v.net", "0f3a9c17be42.org", "www.bxcvnmsdfgh.co.uk", "api.nosuch", "anything.invalid",
		"expyuzz4wqqyqhjn.onion", "hwqkzrtpxnd",
	} {
		if !unlikely(host) {
			t.Errorf("%s is taken for a name that somebody has", host)
		}
	}
	for _, host := range []string{
		"localhost", "redis", "elasticsearch", "host.docker.internal", "db.corp.example", "c12.pages.example.net",
		"x1.3f2a77b1c0d9.example", "collect.evil.test", "nas.local", "com", "github.io", "api.github.com", "storage.googleapis.com",
		"d111111abcdef8.cloudfront.net", "0123456789abcdef0123.execute-api.eu-west-1.amazonaws.com", "raw.githubusercontent.com",
		"nominatim.openstreetmap.org", "duckduckgo.com", "xn--bcher-kva.example", "a.b.c.ngrok-free.app", "1.0.0.127.in-addr.arpa",
		"kubernetes.default.svc.cluster.local", "api.crunchbase.com", "app.posthog.com", "registry.k8s.io",
	} {
		if unlikely(host) {
			t.Errorf("%s is taken for a name that nobody has", host)
		}
	}
}

// TestUnlikelyNameExistsLater: whoever tries a name finds none, whoever means it does.
func TestUnlikelyNameExistsLater(t *testing.T) {
	r := resolver{names: newNames()}
	ask := func(kind dnsmessage.Type) dnsmessage.RCode {
		return r.code(question{Question: dnsmessage.Question{
			Name: dnsmessage.MustNewName("XKQZJVWPTH.com."), Type: kind, Class: dnsmessage.ClassINET,
		}})
	}
	for _, kind := range []dnsmessage.Type{dnsmessage.TypeAAAA, dnsmessage.TypeA} {
		if code := ask(kind); code != dnsmessage.RCodeNameError {
			t.Errorf("the first question for %s is answered %s", kind, code)
		}
	}
	if code := ask(dnsmessage.TypeA); code != dnsmessage.RCodeSuccess {
		t.Errorf("the second question is answered %s", code)
	}
}
