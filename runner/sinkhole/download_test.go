package sinkhole

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/runner/inputs"
)

// formats are told by the beginnings of files.
var beginnings = map[string]string{"pdf": "%PDF-", "png": "\x89PNG", "zip": "PK\x03\x04", "xlsx": "PK\x03\x04", "tgz": "\x1f\x8b", "wav": "RIFF", "gif": "GIF8", "svg": "<svg"}

// Who asks for a file gets one, unless it reads JSON.
func TestDownloads(t *testing.T) {
	for _, c := range []struct{ accept, path, want string }{
		{"*/*", "/pdf/2401.12345.pdf", "pdf"}, {"", "/a/main.tar.gz", "tgz"}, {"image/*,*/*;q=0.8", "/avatar", "png"}, {"application/pdf", "/x", "pdf"},
		{"application/zip", "/export", "zip"}, {"", "/report.XLSX", "xlsx"}, {"", "/logo.svg", "svg"},
	} {
		if got, is := download(c.accept, c.path, nil); !is || !strings.HasPrefix(got.body, beginnings[c.want]) || got.kind == "" {
			t.Errorf("%q, %q: %q, want a %s", c.accept, c.path, got.kind, c.want)
		}
	}
	if got, is := download("", "/a/"+inputs.ArchiveName(0), nil); !is || got.body != string(inputs.Archives[0].Pack(inputs.ArchiveNumber(0), nil)) {
		t.Errorf("an archive of an attempt: %q", got.kind)
	}
	if got, is := download("text/html,image/png", "/notes", nil); is {
		t.Errorf("a page: %s", got.kind)
	}
}

// TestCalled: a download gets the name that its path asks for.
func TestCalled(t *testing.T) {
	want := inputs.Up + inputs.OutsideFile(7, ".txt")[1:]
	if got, ok := inputs.CalledAt(inputs.CalledPath(7)); !ok || got != want {
		t.Errorf("called %q", got)
	}
	for _, other := range []string{"", "/7", "/marlow-called/", "/marlow-called/7x"} {
		if got, ok := inputs.CalledAt(other); ok {
			t.Errorf("%q is called %q", other, got)
		}
	}
}

// The next answer is what the refusal says that this one should have been.
func TestRefusalsNameFormats(t *testing.T) {
	for refusal, want := range map[string]string{
		"arXiv response is not a supported source archive": "tgz", "Invalid PDF structure.": "pdf", "invalid pdf header: b'{\"sta'": "pdf",
		"No /Root object! - Is this really a PDF?": "pdf", "cannot identify image file <_io.BytesIO object>": "png", "Input buffer contains unsupported image format": "png",
		"File is not a zip file": "zip", "Not a gzipped file (b'{\"')": "tgz", "gzip: invalid header": "tgz", "could not open the workbook": "xlsx",
		"'note' is not valid JSON": "", "": "", "not found": "",
	} {
		if got := wanted(refusal); got != want {
			t.Errorf("%q: %q, want %q", refusal, got, want)
		}
	}
	conv := &conversation{server: &Server{answers: newAnswers()}}
	ask := func(refusal string) string {
		conv.server.answers.call(Call{})
		body := conv.learned(&http.Request{Method: http.MethodGet, Host: "api.example", URL: &url.URL{Path: "/e-print"}}, nil).body
		conv.server.answers.call(Call{Ended: true, Refusal: refusal})
		return body
	}
	if body := ask("not a tar archive"); !strings.HasPrefix(body, "{") {
		t.Errorf("first %q", body[:8])
	}
	if body := ask("no such section"); !strings.HasPrefix(body, beginnings["tgz"]) {
		t.Errorf("then %q, want an archive", body[:8])
	}
	if body := ask(""); !strings.HasPrefix(body, "{") && !strings.HasPrefix(body, "[") {
		t.Errorf("last %q, want JSON again", body[:8])
	}
}
