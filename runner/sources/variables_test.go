package sources

import (
	"strings"
	"testing"
)

func TestVariables(t *testing.T) {
	for text, want := range map[string]string{
		`const key = process.env.ACME_KEY ?? process.env["ACME_TOKEN"]`:                "ACME_KEY ACME_TOKEN",
		`const { ACME_KEY, ACME_URL: url, ACME_ID = "x" } = process.env`:               "ACME_KEY ACME_URL ACME_ID",
		`Deno.env.get("ACME_KEY"); Bun.env.ACME_URL; import.meta.env.ACME_ID`:          "ACME_URL ACME_ID ACME_KEY",
		`os.environ["ACME_KEY"]; os.getenv('ACME_URL', ""); os.environ.get("ACME_ID")`: "ACME_KEY ACME_URL ACME_ID",
		`getEnvVar("ACME_KEY"); click.option("--key", envvar="ACME_URL")`:              "ACME_KEY ACME_URL",
		`key: str = Field(alias="ACME_KEY")`:                                           "ACME_KEY",
		`const ACME_KEY = 1; data.ACME_URL; environment["ACME_ID"]; process.env.path`:  "",
	} {
		if got := strings.Join(Variables(text), " "); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func TestConfigured(t *testing.T) {
	for text, want := range map[string]string{
		"```json\n{\"mcpServers\": {\"acme\": {\"command\": \"npx\", \"env\": {\n \"ACME_KEY\": \"<key>\",\n \"ACME_URL\": \"https://x\"}}}}\n```": "ACME_KEY ACME_URL",
		`commandFunction: (config) => ({ command: 'node', env: { ACME_KEY: config.key } })`:                                                        "ACME_KEY",
		`Set "ACME_KEY": it is needed.`: "",
	} {
		if got := strings.Join(Configured(text), " "); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func FuzzVariables(f *testing.F) {
	f.Add(`process.env.A_B; const {C_D}=process.env; os.getenv("E_F")`)
	f.Add(`env: { A_B: "x" }`)
	f.Fuzz(func(t *testing.T, text string) {
		for _, names := range [][]string{Variables(text), Configured(text)} {
			if len(names) > maxVariables {
				t.Errorf("%d names", len(names))
			}
			for _, name := range names {
				if len(name) > maxName || strings.ContainsAny(name, "=\x00\n ") {
					t.Errorf("%q", name)
				}
			}
		}
	})
}
