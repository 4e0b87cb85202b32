package pkgmanager

import (
	"reflect"
	"strings"
	"testing"
)

func TestLaunches(t *testing.T) {
	for command, want := range map[string]Launched{
		"npx -y @a/b@1.2 --flag":          {NPM, "@a/b@1.2", "", []string{"--flag"}, true},
		"/usr/bin/npx --package=@a/b b":   {NPM, "@a/b", "b", []string{}, true},
		"npm x a":                         {NPM, "a", "", []string{}, true},
		"uv tool run --from a==1 b c":     {PyPI, "a==1", "b", []string{"c"}, true},
		"pipx run --spec git+https://x b": {PyPI, "git+https://x", "b", []string{}, true},
		// Here a flag could change what is run.
		"uvx --python 3.12 a":    {PyPI, "a", "", []string{}, false},
		"npx -p a -p b c":        {NPM, "a", "c", []string{}, false},
		"npx --yes=false a":      {NPM, "a", "", []string{}, false},
		"pnpm dlx --allow=a b c": {NPM, "b", "", []string{"c"}, false},
		"npx -p a":               {NPM, "a", "", nil, false},
	} {
		if got, ok := Launches(strings.Fields(command)); !ok || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v (%t), want %+v", command, got, ok, want)
		}
	}
	for _, command := range []string{"", "npx", "npx -y", "npm start", "uv run a", "node a", "go run a"} {
		if got, ok := Launches(strings.Fields(command)); ok {
			t.Errorf("%q runs %+v, want no package", command, got)
		}
	}
}

func TestFetches(t *testing.T) {
	for command, want := range map[string]bool{
		"npx a": true, "npm exec a": true, "npm --prefix /x ci": true, "yarn": true, "uv tool install a": true, "pip3 install a": true, "go get a": true,
		"npm start": false, "npm --version": false, "npm": false, "yarn start": false, "uv run a": false, "pip list": false, "node install": false,
	} {
		words := strings.Fields(command)
		m, _ := Of(words[0])
		if got := m.Fetches(words[1:]); got != want {
			t.Errorf("%s fetches: %t, want %t", command, got, want)
		}
	}
}
