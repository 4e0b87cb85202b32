package shim

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestStandInAnswers: a caller can parse the answers.
func TestStandInAnswers(t *testing.T) {
	for command, want := range map[string]string{
		"gh --version":                                     "gh version " + standInVersion + "\n",
		"docker version":                                   "docker version " + standInVersion + "\n",
		"podman ps -a":                                     standInAnswers["docker ps"],
		"docker info":                                      standInAnswers["docker info"],
		"docker ps --format {{json .}}":                    "",
		"docker inspect --format=json x":                   "[]\n",
		"gh pr list --json number,title":                   "[]\n",
		"gh pr view 3 --json number":                       "{}\n",
		"ffprobe -print_format json a.mp4":                 "{}\n",
		"gh auth token":                                    standInToken + "\n",
		"az account get-access-token -o json --resource x": tokenAnswer(true),
		"adb devices":                                      "List of devices attached\n\n",
		"ffmpeg -i in.mp4 -v error out.gif":                "",
		"helm help":                                        "Usage: helm [OPTIONS] COMMAND [ARG...]\n",
	} {
		words := strings.Fields(command)
		if strings.Contains(command, "{{") {
			words = append(words[:3], "{{json .}}")
		}
		if got := standInAnswer(words[0], words[1:]); got != want {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
	var token struct{ AccessToken, ExpiresOn string }
	if err := json.Unmarshal([]byte(tokenAnswer(true)), &token); err != nil || token.AccessToken != standInToken {
		t.Errorf("%+v, %v", token, err)
	}
	var list struct {
		Kind  string
		Items []any
	}
	if err := json.Unmarshal([]byte(standInAnswer("kubectl", []string{"get", "pods", "-A", "-o", "json"})), &list); err != nil || list.Kind != "List" || list.Items == nil {
		t.Errorf("%+v, %v", list, err)
	}
}

// TestStandInIsPlanted: it runs by its name, with its arguments.
func TestStandInIsPlanted(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "programs")
	echo, err := exec.LookPath("echo")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time the files exist
		if err := (StandIns{Program: echo, Names: []string{"gh", "adb"}}).plant(dir); err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.Command(dir+"/gh", "pr", "a b").Output()
	if want := standInCommand + " " + dir + "/gh pr a b\n"; err != nil || string(out) != want {
		t.Errorf("%q, %v; want %q", out, err, want)
	}
	for _, program := range []string{"/no/such/program", "/with a space"} {
		if err := (StandIns{Program: program}).plant(dir); err == nil {
			t.Errorf("%s: planted", program)
		}
	}
	if _, ok := StandIn([]string{"run"}); ok {
		t.Error("every start is a stand-in's")
	}
	if got := searched([]string{"PATH=/bin", "A=b"}, standInDir); !slices.Equal(got, []string{"A=b", "PATH=/bin:" + standInDir}) {
		t.Errorf("%q", got)
	}
}
