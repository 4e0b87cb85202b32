package scope

import (
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/runner/manifest"
)

func BenchmarkRead(b *testing.B) {
	text := strings.Repeat("Returns the details of a domain, such as its name servers (see the documentation). Use `page` for the next page of results, up to 100/page. ", 100)
	m := manifest.Manifest{}
	for range 30 {
		m.Tools = append(m.Tools, tool("a", text, ""))
	}
	b.SetBytes(int64(len(text) * 30))
	for b.Loop() {
		Read(m, Given{})
	}
}
