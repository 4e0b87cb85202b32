package leak_test

import (
	"encoding/base64"
	"encoding/hex"
	"io"
	"net/netip"
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/runner/decoy"
	"github.com/mcpaudit/mcpaudit/runner/leak"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// TestAskedFor: a secret that the server asked for may go where it is of use.
func TestAskedFor(t *testing.T) {
	asked := decoy.Asked("ACME_API_KEY", "")
	type to struct{ named, text string }
	secret := "Authorization: Bearer " + asked.Value
	basic := "Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte("api:"+asked.Value))
	for name, tc := range map[string]struct {
		sent []to
		home string
	}{
		"to its service":         {[]to{{"api.acme.example", secret}}, "home"},
		"to one of another name": {[]to{{"api.roadrunner.example", secret}}, "home"},
		"by the Basic scheme":    {[]to{{"api.acme.example", basic}}, "home"},
		"to both":                {[]to{{"api.acme.example", secret}, {"collector.example", secret}}, "home away"},
		"in disguise":            {[]to{{"api.acme.example", hex.EncodeToString([]byte(asked.Value))}}, "away"},
		"to a bare address":      {[]to{{"", secret}}, "away"},
		"to its own machine":     {[]to{{"localhost", secret}, {"api.acme.example", secret}}, "home home"},
		"in disguise, to it":     {[]to{{"localhost", hex.EncodeToString([]byte(asked.Value))}}, "away"},
	} {
		_, set := newCollector(t)
		c := leak.New(set.With([]decoy.Var{asked}))
		for i, s := range tc.sent {
			at := netip.AddrFrom4([4]byte{28, 18, 33, byte(4 + i)})
			if s.named == "localhost" {
				at, s.named = netip.AddrFrom4([4]byte{127, 0, 0, 1}), ""
			}
			part := capture("https", s.named, netip.AddrPortFrom(at, 443), s.text)
			part.Named, part.Flow, part.Source = s.named, uint64(i+1), netip.AddrPortFrom(local.Addr(), uint16(4000+i))
			c.Capture(part)
		}
		var got []string
		for _, l := range c.Finish(session) {
			got = append(got, map[bool]string{true: "home", false: "away"}[l.Home])
		}
		if strings.Join(got, " ") != tc.home {
			t.Errorf("%s: %v, want %s", name, got, tc.home)
		}
	}
}

// TestAskedForAsFile: what the server took for the name of a file it may say in its log, and
// in an answer as a part of a path.
func TestAskedForAsFile(t *testing.T) {
	asked := decoy.Asked("ACME_OAUTH_CREDENTIALS", "")
	for name, tc := range map[string]struct {
		path, errno string
		channel     leak.Channel
		said        string
		home        bool
	}{
		"complained of":       {"/srv/" + asked.Value, "ENOENT", leak.Stderr, "no such file: /srv/" + asked.Value, true},
		"never looked for":    {"/srv/other", "ENOENT", leak.Stderr, "no such file: /srv/" + asked.Value, false},
		"one that is there":   {"/srv/" + asked.Value, "", leak.Stderr, "read " + asked.Value, false},
		"answered":            {"/srv/" + asked.Value, "ENOENT", leak.Answer, "searched: /srv/" + asked.Value, true},
		"answered as a word":  {"/srv/" + asked.Value, "ENOENT", leak.Answer, "your key is " + asked.Value, false},
		"in another encoding": {"/srv/" + asked.Value, "ENOENT", leak.Stderr, hex.EncodeToString([]byte(asked.Value)), false},
	} {
		_, set := newCollector(t)
		c := leak.New(set.With([]decoy.Var{asked}))
		c.Event(trace.Event{Op: trace.OpRead, Path: tc.path, Errno: tc.errno})
		if tc.channel == leak.Answer {
			c.Response([]byte(tc.said), 1000)
		} else if _, err := io.WriteString(c.Log(tc.channel), tc.said+"\n"); err != nil {
			t.Fatal(err)
		}
		if leaks := c.Finish(session); len(leaks) != 1 || leaks[0].Home != tc.home {
			t.Errorf("%s: %+v", name, leaks)
		}
	}
}

// TestOnThisMachine: a variable of the user's may go to a service of the machine, as it is, and a file may not.
func TestOnThisMachine(t *testing.T) {
	_, set := newCollector(t)
	variable := func(text string) string { return "Authorization: Bearer " + text }
	for name, tc := range map[string]struct {
		sent string
		home bool
	}{
		"a variable":    {variable(token(t, set)), true},
		"in disguise":   {variable(hex.EncodeToString([]byte(token(t, set)))), false},
		"a private key": {key(t, set), false},
	} {
		c := leak.New(set)
		part := capture("http", "localhost:4566", netip.MustParseAddrPort("127.0.0.1:4566"), tc.sent)
		part.Flow, part.Source = 1, netip.AddrPortFrom(local.Addr(), 4000)
		c.Capture(part)
		leaks := c.Finish(session)
		if len(leaks) == 0 || leaks[0].Home != tc.home {
			t.Errorf("%s: %+v", name, leaks)
		}
	}
}
