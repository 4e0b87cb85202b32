package scope

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/manifest"
)

func TestAllowlists(t *testing.T) {
	resolver := netip.MustParseAddr("10.96.0.10")
	egress := func(host, address string, port int) Use {
		return Use{Kind: UseEgress, Host: host, Address: address, Port: port}
	}
	searched := func(host, fqdn string) Use {
		return Use{Kind: UseEgress, Host: host, FQDN: fqdn, Address: "28.18.0.1", Port: 443}
	}
	read := func(file string) Use { return Use{Kind: UseRead, Path: file} }
	exec := func(file string) Use { return Use{Kind: UseExec, Path: file} }
	listen := func(address string, port int) Use { return Use{Kind: UseListen, Address: address, Port: port} }
	for _, tc := range []struct {
		entry string
		use   Use
		want  bool
	}{
		{"api.example.com", egress("api.example.com", "28.18.0.1", 443), true},
		{"api.example.com", egress("API.Example.com.", "28.18.0.1", 80), true},
		{"API.example.com", egress("api.example.com", "28.18.0.1", 80), true},
		{"api.example.com", egress("xapi.example.com", "28.18.0.1", 443), false},
		{"api.example.com", egress("api.example.com.evil.test", "28.18.0.1", 443), false},
		{"api.example.com", egress("", "28.18.0.1", 443), false},
		{"api.example.com:443", egress("api.example.com", "28.18.0.1", 443), true},
		{"api.example.com:443", egress("api.example.com", "28.18.0.1", 80), false},
		{"*.example.com", egress("a.example.com", "28.18.0.1", 443), true},
		{"*.example.com", egress("a.b.example.com", "28.18.0.1", 443), true},
		{"*.example.com", egress("example.com", "28.18.0.1", 443), false},
		{"*.example.com", egress("badexample.com", "28.18.0.1", 443), false},
		{"api-*.example.com", egress("api-7.example.com", "28.18.0.1", 443), true},
		{"api-*.example.com", egress("api-7.x.example.com", "28.18.0.1", 443), false},
		{"a*b*a.example.com", egress("aba.example.com", "28.18.0.1", 443), true},
		{"a*b*a.example.com", egress("aa.example.com", "28.18.0.1", 443), false},
		{"wiki", searched("wiki", "wiki.corp.example"), true},
		{"wiki.corp.example", searched("wiki", "wiki.corp.example"), true},
		{"wiki.dev.corp.example", searched("wiki.dev", "wiki.dev.corp.example"), true},
		{"*.corp.example", searched("wiki.floor2", "wiki.floor2.corp.example"), true},
		{"*.corp.example", searched("notion.com", "notion.com.corp.example"), false},
		{"notion.com", searched("notion.com", "notion.com.corp.example"), true},
		{"db.prod", searched("db.prod", "db.prod.svc.cluster.local"), true},
		{"*.prod.svc.cluster.local", searched("db.prod", "db.prod.svc.cluster.local"), true},
		{"db.prod.svc.cluster.local", searched("db.evil", "db.evil.svc.cluster.local"), false},
		{"db", searched("db.evil", "db.evil.svc.cluster.local"), false},
		{"*", egress("", "203.0.113.9", 25), true},
		{"*:443", egress("anything.test", "203.0.113.9", 443), true},
		{"*:443", egress("anything.test", "203.0.113.9", 80), false},
		{"*:443", egress("anything.test", "10.96.0.10", 53), true},
		{"*:443", egress("anything.test", "8.8.8.8", 53), false},

		// the question for an allowed name, at a name server of the machine
		{"api.example.com:443", egress("api.example.com", "10.96.0.10", 53), true},
		{"api.example.com:443", egress("api.example.com", "127.0.0.53", 53), true},
		{"api.example.com:443", egress("api.example.com", "8.8.8.8", 53), false},
		{"api.example.com", egress("api.example.com", "10.96.0.10", 53), true},
		{"api.example.com", egress("api.example.com", "8.8.8.8", 53), false},
		{"api.example.com:443", egress("other.example.com", "10.96.0.10", 53), false},
		{"api.example.com:443", egress("", "10.96.0.10", 53), true},
		{"api.example.com:443", egress("", "8.8.8.8", 53), false},

		{"10.0.0.0/8", egress("", "10.1.2.3", 5432), true},
		{"10.0.0.0/8", egress("db.internal", "10.1.2.3", 5432), true},
		{"10.0.0.0/8", egress("", "11.1.2.3", 5432), false},
		{"10.1.2.3/8", egress("", "10.9.9.9", 5432), true},
		{"10.0.0.0/8:5432", egress("", "10.1.2.3", 5432), true},
		{"10.0.0.0/8:5432", egress("", "10.1.2.3", 22), false},
		{"10.1.2.3", egress("", "::ffff:10.1.2.3", 22), true},
		{"2001:db8::1", egress("", "2001:db8::1", 443), true},
		{"2001:db8::/32", egress("", "2001:db8:1::1", 443), true},
		{"[2001:db8::1]:443", egress("", "2001:db8::1", 443), true},
		{"[2001:db8::1]:443", egress("", "2001:db8::1", 80), false},
		{"[2001:db8::/32]:443", egress("", "2001:db8:1::1", 443), true},

		{"/data/", read("/data"), true},
		{"/data/", read("/data/a/b"), true},
		{"/data/", read("/database"), false},
		{"/data", read("/data/a"), false},
		{"/data/*.csv", read("/data/a.csv"), true},
		{"/data/*.csv", read("/data/a/b.csv"), false},
		{"/data/*/out/", read("/data/a/out/b/c"), true},
		{"/data/*/out/", read("/data/out/b"), false},
		{"/", read("/etc/passwd"), true},
		{"~/notes/", read("/home/audit/notes/a"), true},
		{"~/notes/", read("/home/other/notes/a"), false},
		{"~/", read("/home/audit/.ssh/id_rsa"), true},
		{"/data/", read(""), false},

		{"git", exec("/usr/bin/git"), true},
		{"git", exec("/home/audit/.local/bin/git"), true},
		{"git", exec("/tmp/git"), false},
		{"git", exec("/proc/self/fd/9"), false},
		{"git", exec("/usr/bin/git-upload-pack"), false},
		{"git*", exec("/usr/bin/git-upload-pack"), true},
		{"/usr/bin/git", exec("/usr/bin/git"), true},
		{"/usr/bin/git", exec("/bin/git"), false},
		{"/usr/lib/git-core/", exec("/usr/lib/git-core/git-log"), true},
		{"/tmp/tool", exec("/tmp/tool"), true},

		{"8080", listen("0.0.0.0", 8080), true},
		{"8080", listen("127.0.0.1", 8081), false},
		{"127.0.0.1:8080", listen("127.0.0.1", 8080), true},
		{"127.0.0.1:8080", listen("0.0.0.0", 8080), false},
		{"[::1]:8080", listen("::1", 8080), true},
	} {
		allow, kind := &report.DeclaredScope{}, tc.use.Kind
		entries := []string{tc.entry}
		switch kind {
		case UseEgress:
			allow.Egress = entries
		case UseRead:
			allow.ReadPaths = entries
		case UseExec:
			allow.Exec = entries
		case UseListen:
			allow.Listen = entries
		}
		if err := Check(allow); err != nil {
			t.Errorf("%s: %v", tc.entry, err)
		}
		s := Read(manifest.Manifest{}, Given{Allow: allow, Home: "/home/audit", Resolvers: []netip.Addr{resolver}})
		got, clause := s.Answer(ofServer, tc.use)
		want, field := Exceeded, string(kind)
		if tc.want {
			want, field = Allowed, field+"[0]"
		}
		if got != want || clause.Field != field || clause.Source != report.ScopeSpec {
			t.Errorf("%s of %+v: %d by %+v, want %d by %s", tc.entry, tc.use, got, clause, want, field)
		}
	}
}

// A name that a server made up an address for allows nothing: in the sandbox every name
// has its address in one network.
func TestMadeUpNames(t *testing.T) {
	allow := &report.DeclaredScope{Egress: []string{"api.example.com"}}
	fake := func(name string, at netip.Addr) bool {
		return name == "api.example.com" && netip.MustParsePrefix("28.0.0.0/8").Contains(at)
	}
	for _, tc := range []struct {
		gave    func(string, netip.Addr) bool
		address string
		want    Answer
	}{
		{fake, "28.18.0.1", Allowed}, {fake, "::ffff:28.18.0.1", Allowed}, {fake, "93.184.216.34", Exceeded},
		{fake, "2001:db8::1", Exceeded}, {fake, "", Exceeded}, {nil, "93.184.216.34", Allowed},
	} {
		s := Read(manifest.Manifest{}, Given{Allow: allow, Gave: tc.gave})
		got, _ := s.Answer(ofServer, Use{Kind: UseEgress, Host: "api.example.com", Address: tc.address, Port: 443})
		if got != tc.want {
			t.Errorf("%s: %d, want %d", tc.address, got, tc.want)
		}
	}
}

// A list that is absent says nothing, and one that is empty allows nothing.
func TestAbsentAndEmptyLists(t *testing.T) {
	use := Use{Kind: UseWrite, Path: "/data/a"}
	for want, allow := range map[Answer]*report.DeclaredScope{
		Unsaid: {ReadPaths: []string{"/data/"}}, Exceeded: {WritePaths: []string{}}, Allowed: {WritePaths: []string{"/data/"}},
	} {
		if got, clause := Read(manifest.Manifest{}, Given{Allow: allow}).Answer(ofServer, use); got != want {
			t.Errorf("%+v: %d (%+v), want %d", *allow, got, clause, want)
		}
	}
	if got, _ := Read(manifest.Manifest{}, Given{}).Answer(ofServer, use); got != Unsaid {
		t.Errorf("no scope at all: %d, want Unsaid", got)
	}
}

// What is not understood allows nothing, and says what it should be.
func TestEntriesThatDoNotParse(t *testing.T) {
	long := strings.Repeat("a", 600)
	for want, allow := range map[string]report.DeclaredScope{
		`egress[2] "http://x": it is a host, an address or a CIDR block, with or without a port`: {Egress: []string{"a.test", "b.test", "http://x"}},
		`egress[0] "a.test/path": it is a host`:                                                  {Egress: []string{"a.test/path"}},
		`egress[0] "a.test:0": its port is from 1 to 65535`:                                      {Egress: []string{"a.test:0"}},
		`egress[0] "a.test:": its port is from 1 to 65535`:                                       {Egress: []string{"a.test:"}},
		`egress[0] "a.test:65536": its port`:                                                     {Egress: []string{"a.test:65536"}},
		`egress[0] "10.0.0": it is a host`:                                                       {Egress: []string{"10.0.0"}},
		`egress[0] "10.0.0.0/33": it is a host`:                                                  {Egress: []string{"10.0.0.0/33"}},
		`egress[0] "[a.test]:80": it is a host`:                                                  {Egress: []string{"[a.test]:80"}},
		`egress[0] "[::1": it is a host`:                                                         {Egress: []string{"[::1"}},
		`egress[0] "a..test": it is a host`:                                                      {Egress: []string{"a..test"}},
		`egress[0] "münchen.test": write the name as it is looked up`:                            {Egress: []string{"münchen.test"}},
		`egress[0] "": it is empty: leave it out`:                                                {Egress: []string{""}},
		`egress[0] "a\nb": it has a control character`:                                           {Egress: []string{"a\nb"}},
		`readPaths[0] "data/": it is an absolute path`:                                           {ReadPaths: []string{"data/"}},
		`readPaths[0] "~": it is an absolute path`:                                               {ReadPaths: []string{"~"}},
		`writePaths[0] "/a/../b": it has an empty, a "." or a ".." part`:                         {WritePaths: []string{"/a/../b"}},
		`writePaths[0] "/a//b": it has an empty`:                                                 {WritePaths: []string{"/a//b"}},
		`writePaths[0] "//": it has an empty`:                                                    {WritePaths: []string{"//"}},
		`writePaths[0] "/a/**": "**" is no pattern here`:                                         {WritePaths: []string{"/a/**"}},
		`exec[0] "git log": it is a program`:                                                     {Exec: []string{"git log"}},
		`exec[0] "bin/git": it is a program`:                                                     {Exec: []string{"bin/git"}},
		`listen[0] "localhost:80": it is a port`:                                                 {Listen: []string{"localhost:80"}},
		`listen[0] "0": its port`:                                                                {Listen: []string{"0"}},
		`listen[0] "127.0.0.1": it is a port`:                                                    {Listen: []string{"127.0.0.1"}},
		`it is longer than 512 bytes`:                                                            {Exec: []string{long}},
		`egress: it has 65 entries: 64 is the most`:                                              {Egress: strings.Split(strings.Repeat("a ", 64)+"a", " ")},
	} {
		err := Check(&allow)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	s := Read(manifest.Manifest{}, Given{Allow: &report.DeclaredScope{Listen: []string{"localhost:80"}}})
	if got, _ := s.Answer(ofServer, Use{Kind: UseListen, Address: "127.0.0.1", Port: 80}); got != Exceeded {
		t.Errorf("an entry that does not parse: %d, want Exceeded", got)
	}
}

func FuzzAllowlists(f *testing.F) {
	for _, seed := range []string{"*.example.com:443", "[2001:db8::/32]:1", "~/a/*/", "a*b*c*", "127.0.0.1:80", "//", "~"} {
		f.Add(seed, "api.example.com", "/home/a/b", 443)
	}
	f.Fuzz(func(t *testing.T, entry, host, file string, port int) {
		for _, l := range (Given{Allow: &report.DeclaredScope{
			Egress: []string{}, ReadPaths: []string{}, WritePaths: []string{}, Exec: []string{}, Listen: []string{},
		}}).lists() {
			allows, err := l.read(entry, Given{Home: "/home"})
			if (allows == nil) != (err != nil) && err == nil {
				t.Fatalf("%s %q: neither a matcher nor an error", l.kind, entry)
			}
			if err != nil {
				continue
			}
			allows(Use{Kind: l.kind, Host: host, Address: host, Port: port, Path: file})
			if l.kind == UseEgress && strings.Trim(entry, "abcdefghijklmnopqrstuvwxyz.") == "" &&
				!allows(Use{Kind: l.kind, Host: entry, Address: "28.18.0.1", Port: 80}) {
				t.Fatalf("%q does not allow itself", entry)
			}
			if l.kind == UseRead && strings.HasPrefix(entry, "/") && !strings.ContainsRune(entry, '*') && !allows(Use{Path: strings.TrimSuffix(entry, "/")}) && entry != "/" {
				t.Fatalf("%q does not allow itself", entry)
			}
		}
	})
}
