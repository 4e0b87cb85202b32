package decoy_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/runner/decoy"
)

func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		if _, err := decoy.New("/home/server", false); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkNewMatcher(b *testing.B) {
	set, err := decoy.New("/home/server", false)
	if err != nil {
		b.Fatal(err)
	}
	for i := 0; b.Loop(); i++ { // a new set each time: the last matchers are kept
		decoy.NewMatcher(set.With([]decoy.Var{{Name: fmt.Sprint(i), Secrets: []string{"q7Zt0fW2mK9x"}}}))
	}
}

// BenchmarkStream measures the throughput on data as servers send them.
func BenchmarkStream(b *testing.B) {
	set, err := decoy.New("/home/server", false)
	if err != nil {
		b.Fatal(err)
	}
	m := decoy.NewMatcher(set)
	noise := make([]byte, 4<<20)
	source := rand.NewChaCha8([32]byte{1})
	_, _ = source.Read(noise)
	for name, data := range map[string][]byte{
		"text":   bytes.Repeat([]byte("The quick brown fox jumps over the lazy dog, and then again.\n"), 64<<10),
		"random": noise,
		"base64": []byte(std(string(noise))),
		"json":   []byte(strings.Repeat(`{"jsonrpc":"2.0","result":{"content":[{"type":"text","text":"a line\nand \"another\" one"}]}}`, 40<<10)),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				s := m.Stream()
				for at := 0; at < len(data); at += 4096 {
					s.Write(data[at:min(at+4096, len(data))])
				}
				s.Flush()
			}
		})
	}
}

// BenchmarkFind measures the cost of a short text: a name, a datagram, a small file.
func BenchmarkFind(b *testing.B) {
	set, err := decoy.New("/home/server", false)
	if err != nil {
		b.Fatal(err)
	}
	m := decoy.NewMatcher(set)
	text := []byte(strings.Repeat("GET /index.html HTTP/1.1\r\nHost: example.net\r\n", 8))
	b.ReportAllocs()
	for b.Loop() {
		m.Find(text)
	}
}
