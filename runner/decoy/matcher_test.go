package decoy_test

import (
	archivezip "archive/zip"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/runner/decoy"
)

// encodings hide a text, by the name of the encoding in a match.
var encodings = map[string]func(string) string{
	"plain":     func(s string) string { return s },
	"base64":    std,
	"base64url": func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) },
	"base32":    func(s string) string { return base32.StdEncoding.EncodeToString([]byte(s)) },
	"hex":       func(s string) string { return hex.EncodeToString([]byte(s)) },
	"url":       url.QueryEscape,
	"reversed": func(s string) string {
		b := []byte(s)
		slices.Reverse(b)
		return string(b)
	},
	"gzip":               zip,
	"zlib":               packed(func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) }),
	"zip":                archive,
	"deflate":            packed(func(w io.Writer) io.WriteCloser { f, _ := flate.NewWriter(w, 9); return f }),
	"gzip+base64":        func(s string) string { return std(zip(s)) },
	"zlib+base64":        func(s string) string { return std(compress(s)) },
	"gzip+hex":           func(s string) string { return hex.EncodeToString([]byte(zip(s))) },
	"base64+base64":      func(s string) string { return std(std(s)) },
	"gzip+base64+url":    func(s string) string { return url.QueryEscape(std(zip(s + s))) },
	"reversed+base64":    func(s string) string { b := []byte(s); slices.Reverse(b); return std(string(b)) },
	"gzip+base64+gzip":   func(s string) string { return zip(std(zip(s))) },
	"base64+gzip+base64": func(s string) string { return std(zip(std(s))) },
}

func std(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

// archive is an office document, of one file.
func archive(s string) string {
	var b bytes.Buffer
	all := archivezip.NewWriter(&b)
	if w, err := all.Create("word/document.xml"); err == nil {
		_, _ = io.WriteString(w, s)
	}
	_ = all.Close()
	return b.String()
}

func packed(open func(io.Writer) io.WriteCloser) func(string) string {
	return func(s string) string {
		var b bytes.Buffer
		w := open(&b)
		_, _ = io.WriteString(w, s)
		_ = w.Close()
		return b.String()
	}
}

var (
	zip      = packed(func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) })
	compress = packed(func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) })
)

// TestEveryDecoyInEveryEncoding finds each alone, at each alignment.
func TestEveryDecoyInEveryEncoding(t *testing.T) {
	set := newSet(t, "/home/server", false)
	m := decoy.NewMatcher(set)
	check := func(id decoy.ID, content string, secrets []string) {
		for name, encode := range encodings {
			for shift := range 5 {
				data := "xxxxx"[:shift] + content
				before := "-> "
				if name == "deflate" {
					before = "" // it has no header, and is found only where data begin
				}
				found, unsearched := m.Find([]byte(before + encode(data) + "\n"))
				if len(found) == 0 || found[0].Decoy != id || unsearched > 0 {
					t.Errorf("%v as %s, shifted by %d: %+v", id, name, shift, found)
					continue
				}
				// Some secrets look the same in both.
				same := name == found[0].Encoding || name == "base64url" && found[0].Encoding == "base64" ||
					name == "url" && found[0].Encoding == "plain" && !strings.ContainsAny(strings.Join(secrets, ""), "+/")
				if !same && !strings.HasSuffix(id.Name, ".docker/config.json") {
					t.Errorf("%v as %s, shifted by %d: found as %s", id, name, shift, found[0].Encoding)
				}
			}
		}
	}
	for _, f := range set.Files {
		check(decoy.ID{Name: f.Path}, string(f.Content), f.Secrets)
	}
	for _, v := range set.Vars {
		check(decoy.ID{Variable: true, Name: v.Name}, v.Value, v.Secrets)
	}
}

// TestParts: sixteen characters of a secret are enough, one less is not.
func TestParts(t *testing.T) {
	set := newSet(t, "/home/server", false)
	m := decoy.NewMatcher(set)
	for _, f := range set.Files {
		for _, secret := range f.Secrets {
			for at := 0; at+16 <= len(secret); at += 5 {
				if found, _ := m.Find([]byte("key=" + secret[at:at+16] + "!")); len(found) == 0 {
					t.Errorf("%s: %d:%d was not found", f.Path, at, at+16)
				}
			}
			if found, _ := m.Find([]byte("key=" + secret[:15] + "!")); len(found) > 0 {
				t.Errorf("%s: 15 characters were found: %+v", f.Path, found)
			}
		}
	}
}

func TestFraming(t *testing.T) {
	set := newSet(t, "/home/server", false)
	m := decoy.NewMatcher(set)
	key, _ := set.Find("/home/server/.ssh/id_rsa")
	text := string(key.Content)
	quoted, err := json.Marshal(map[string]string{"text": text})
	if err != nil {
		t.Fatal(err)
	}
	wrapped := std(text)
	for i := 76; i < len(wrapped); i += 78 {
		wrapped = wrapped[:i] + "\r\n" + wrapped[i:]
	}
	for name, tc := range map[string]struct{ data, encoding string }{
		"json":                 {string(quoted), "plain"},
		"json with slashes":    {strings.ReplaceAll(string(quoted), "/", `\/`), "plain"},
		"json with code units": {strings.ReplaceAll(string(quoted), "+", `\u002b`), "plain"},
		"wrapped base64":       {wrapped, "base64"},
		"a path":               {"GET /collect/" + std(zip(text)) + " HTTP/1.1\r\n\r\n", "gzip+base64"},
		"a query":              {"GET /c?k=" + url.QueryEscape(std(zip(text))) + "&x=1 HTTP/1.1\r\nHost: x\r\n\r\n", "gzip+base64"},
		"chunked":              {request("", chunked(text, 40)), "plain"},
		"chunked base64":       {request("", chunked(std(text), 17)), "base64"},
		"chunked gzip":         {request("Content-Encoding: gzip\r\n", chunked(zip(text), 100)), "gzip"},
		"chunked deflate":      {request("Content-Encoding: deflate\r\n", chunked(encodings["deflate"](text), 100)), "deflate"},
		"deflate body":         {"POST / HTTP/1.1\r\nContent-Encoding: deflate\r\n\r\n" + encodings["deflate"](text), "deflate"},
		"second request":       {request("", chunked("nothing", 3)) + request("", chunked(text, 16)), "plain"},
		"cut short":            {zip(text)[:900], "gzip"},
	} {
		found, _ := m.Find([]byte(tc.data))
		if len(found) != 1 || found[0].Decoy.Name != key.Path || !strings.HasPrefix(found[0].Encoding, tc.encoding) {
			t.Errorf("%s: %+v", name, found)
		}
	}
}

func request(fields, body string) string {
	return "POST /collect HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n" + fields + "\r\n" + body
}

func chunked(text string, size int) string {
	var b strings.Builder
	for len(text) > 0 {
		n := min(size, len(text))
		fmt.Fprintf(&b, "%x\r\n%s\r\n", n, text[:n])
		text = text[n:]
	}
	return b.String() + "0\r\n\r\n"
}

// TestExcerpt: enough to know it again, not enough to use it.
func TestExcerpt(t *testing.T) {
	set := newSet(t, "/home/server", false)
	m := decoy.NewMatcher(set)
	key, _ := set.Find("/home/server/.ssh/id_rsa")
	for name, encode := range encodings {
		if name == "reversed" || name == "reversed+base64" || name == "base32" || name == "deflate" {
			continue // found only by its form, or by where it begins
		}
		found, _ := m.Find([]byte("POST / HTTP/1.1\r\n\r\nkey=" + encode(string(key.Content))))
		if len(found) != 1 || !strings.Contains(strings.ReplaceAll(found[0].Excerpt, "+", " "), "-----BEGIN RSA PRIVATE KEY----- MII") {
			t.Errorf("%s: %+v", name, found)
		}
		for _, f := range found {
			for _, secret := range key.Secrets {
				if strings.Contains(f.Excerpt, secret[:5]) {
					t.Errorf("%s: the excerpt %q has the secret", name, f.Excerpt)
				}
			}
		}
	}
}

// TestWrites: however a stream is cut, a secret in it is found once.
func TestWrites(t *testing.T) {
	set := newSet(t, "/home/server", false)
	m := decoy.NewMatcher(set)
	token := set.Vars[5].Value
	for name, encode := range encodings {
		for _, before := range []int{0, 100, 65536 - 40, 65536, 200000} {
			if name == "deflate" && before > 0 {
				continue // it is found only where data begin
			}
			stream := strings.Repeat(".", before) + encode(token+" "+token)
			for _, size := range []int{1, 7, 4096, len(stream)} {
				if size == 1 && before > 1000 {
					continue
				}
				s := m.Stream()
				var found []decoy.Match
				for at := 0; at < len(stream); at += size {
					found = append(found, s.Write([]byte(stream[at:min(at+size, len(stream))]))...)
				}
				found = append(found, s.Flush()...)
				if len(found) == 0 || len(found) > 2 || found[0].Decoy.Name != set.Vars[5].Name {
					t.Errorf("%s behind %d bytes in pieces of %d: %+v", name, before, size, found)
					continue
				}
				if f := found[0]; f.Offset < int64(before) && !strings.HasSuffix(name, "url") || f.Offset > int64(before+len(encode(token))) {
					t.Errorf("%s behind %d bytes: at %d", name, before, f.Offset)
				}
			}
		}
	}
}

// TestFolded: a name server's client may write a name in any case.
func TestFolded(t *testing.T) {
	set := newSet(t, "/home/server", false)
	m := decoy.NewMatcher(set)
	for _, name := range []string{"plain", "base64", "base32", "hex", "gzip+hex"} {
		data := strings.ToLower(encodings[name](set.Vars[5].Value))
		s := m.FoldedStream()
		s.Write([]byte(data))
		if found := s.Flush(); len(found) != 1 || found[0].Encoding != name {
			t.Errorf("%s: %+v", name, found)
		}
	}
}

// TestNothing: random, compressed or long data have no decoy in them, and the
// search of a bomb ends.
func TestNothing(t *testing.T) {
	m := decoy.NewMatcher(newSet(t, "/home/server", false))
	other := newSet(t, "/home/server", false)
	for _, f := range other.Files {
		for name, encode := range encodings {
			if found, unsearched := m.Find([]byte(encode(string(f.Content)))); len(found) > 0 || unsearched > 0 {
				t.Errorf("%s as %s: %+v, %d unsearched", f.Path, name, found, unsearched)
			}
		}
	}
	bomb := zip(strings.Repeat(zip(strings.Repeat("x", 64<<20)), 20))
	if found, unsearched := m.Find([]byte(strings.Repeat(bomb, 10))); len(found) > 0 || unsearched == 0 {
		t.Errorf("bomb: %+v, %d unsearched", found, unsearched)
	}
}

func TestRedact(t *testing.T) {
	set := newSet(t, "/home/server", false)
	m := decoy.NewMatcher(set)
	key, _ := set.Find("/home/server/.ssh/id_rsa")
	for name, encode := range encodings {
		if strings.Contains(name, "zip") || strings.Contains(name, "lib") || name == "deflate" || name == "base64+base64" || name == "reversed+base64" {
			continue // Redact does not find it
		}
		text := encode(string(key.Content))
		redacted := m.Redact("sendto(5, \"" + text + "\", 1700, 0)")
		if found, _ := m.Find([]byte(redacted)); len(found) > 0 || len(redacted) > len(text)/2 || !strings.HasSuffix(redacted, "\", 1700, 0)") {
			t.Errorf("%s: %s", name, redacted)
		}
	}
	if text := "curl -H 'Authorization: Bearer " + set.Vars[5].Value + "' https://example.net"; len(m.Redact(text)) > len(text)-20 {
		t.Error(m.Redact(text))
	}
	if text := "nothing to hide"; m.Redact(text) != text {
		t.Error(m.Redact(text))
	}
}

// TestMatcherOfEachSet: each set has its own matcher.
func TestMatcherOfEachSet(t *testing.T) {
	var sets []decoy.Set
	for i := range 6 {
		sets = append(sets, decoy.Set{Vars: []decoy.Var{{Name: "TOKEN", Secrets: []string{fmt.Sprintf("s3cr3t-%d-9f8e7d6c5b", i)}}}})
	}
	for range 2 {
		for i, set := range sets {
			for j, other := range sets {
				if found, _ := decoy.NewMatcher(set).Find([]byte(other.Vars[0].Secrets[0])); (len(found) > 0) != (i == j) {
					t.Errorf("set %d finds %v of set %d", i, found, j)
				}
			}
		}
	}
}
