package sinkhole

import (
	"net/http"
	"net/http/httptest"
	"os/exec"
	"testing"
)

// TestGit: git itself clones the repository, and finds nothing in it.
func TestGit(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer, is := git(r)
		if !is {
			t.Errorf("%s asks for more", r.URL)
		}
		w.Header().Set("Content-Type", answer.kind)
		_, _ = w.Write([]byte(answer.body)) // to a client that reads all
	}))
	defer server.Close()
	if out, err := exec.Command("git", "clone", "--quiet", server.URL+"/team/app.git", t.TempDir()+"/app").CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	if _, is := git(httptest.NewRequest(http.MethodGet, "/info/refs", nil)); is {
		t.Error("a client of the simple protocol gets what it cannot read")
	}
}
