package credential

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"slices"
	"strings"
	"testing"
)

// The keys are put together here: they were never issued, and nothing that searches sources
// for keys is to find them.
const (
	drawnText = "q7Zr2LmX9vKc4TnB8wYd3HsJ6gFp1EaU"
	github    = "gh" + "p_q7Zr2LmX9vKc4TnB8wYd3HsJ6gFp1E"
	jwtHead   = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9"
)

func pemKey(t *testing.T) string {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(ed25519.NewKeyFromSeed([]byte(drawnText)))
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE" + " KEY", Bytes: der}))
}

// brief has the credentials of a text as "kind", and "kind live" where they are.
func brief(text string) []string {
	all := []string{}
	for _, c := range Find(text) {
		is := string(c.Kind)
		if c.Live {
			is += " live"
		}
		all = append(all, is)
	}
	return all
}

func TestFind(t *testing.T) {
	for text, want := range map[string][]string{
		"STRIPE=sk_" + "live_" + drawnText:                                        {"Issued live"},
		github + "aB3xY9 is the token":                                            {"Issued"}, // no checksum of GitHub's
		"key AKIA" + "Q7ZRLM2XVKC4TNBW, in us-east-1":                             {"Issued"},
		"aws_secret_access_key = " + drawnText + "Zq8+/k3R":                       {"Labelled"},
		`{"slack":"xox` + `b-1234098765-9081726354-` + drawnText[:24] + `"}`:      {"Issued live"},
		"API Key: sk-a1b2c3d4e5f6g7h8i9j0":                                        {"Issued"},
		pemKey(t):                                                                 {"PrivateKey live"},
		`{"key":"` + strings.ReplaceAll(pemKey(t), "\n", `\n`) + `"}`:             {"PrivateKey live"},
		"Authorization: Bearer " + jwtHead + ".eyJzdWIiOiJhZG1pbiJ9." + drawnText: {"WebToken"},
		"postgresql://app:V3ry-l0ng-w0rd@db.internal:5432/orders":                 {"URL"},
		"Admin Password: super_secret_password123":                                {"Labelled"},
		`{"user":"root","password":"Winter2024!x"}`:                               {"Labelled"},
		`{\"dbPassword\":\"Winter2024!x\"}`:                                       {"Labelled"},
		"db_password: Pr0d-S3cur3!w0rd\napi_key: epro_api_5f4e3d2c1b0a9z8y7x":     {"Labelled", "Labelled"},
		"The master password is m@st3r-w0rd-2025.":                                {"Labelled"},
	} {
		if got := brief(text); !slices.Equal(got, want) {
			t.Errorf("%q has %v, want %v", text, got, want)
		}
	}
}

// What stands for a credential, or for something else, is none.
func TestFindNone(t *testing.T) {
	for _, text := range []string{
		"",
		"Set OPENAI_API_KEY=sk-... first", "ghp_" + strings.Repeat("x", 36), "AKIAIOSFODNN7EXAMPLE",
		"aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
		"password: your-password-here1", `"api_key": "YOUR_API_KEY_123456"`, "password=changeme123", "api_key=<your key 12345678>",
		"password: ${DB_PASSWORD_1}", `password: os.environ["PW1"]`, "token: process.env.GITHUB_TOKEN2", "secret: vault:kv/data/app1",
		"postgres://user:password@localhost:5432/db", "postgres://postgres:postgres1@db/x", "redis://:password1@cache:6379", "https://example.com:8443/a@b",
		"mysql://root:secret@db", "http://[::1]:8080/", "ssh://git@github.com:22/a/b1",
		"commit 9fceb02d0ae598e95dc970b74767f19372d61af8", "token: 9fceb02d-0ae5-498e-95dc-970b74767f19",
		"password_hash: 5e884898da28047151d0e56f8dc6292773603d0d6aabbdd62a11ef721d1542d8",
		"password: 5e884898da28047151d0e56f8dc6292773603d0d6aabbdd62a11ef721d1542d8",
		`{"nextPageToken":"CAUQAA1234567890abcdef"}`, `{"token":"eyJvZmZzZXQiOjEwLCJsaW1pdCI6NTB9"}`, "progressToken: q7Zr2LmX9vKc4TnB8wYd",
		"The password must be 8 characters or longer.", "password: required1", "Tokens: 1234567890123456", "token: 2026-01-02T03:04:05Z",
		"-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----", "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----",
		"-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n-----END PUBLIC KEY-----",
		jwtHead + ".eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c",
		"eyJhbGciOiJub25lIn0.eyJzdWIiOiJhIn0.AAAAAAAAAAAAAAAAAAAA",
		"```yaml\npassword: Winter2024!x\n```", "for example password: Winter2024!x",
		"public_key: q7Zr2LmX9vKc4TnB8wYd3HsJ", "sk-learn_pipeline_for_training", "task-q7Zr2LmX9vKc4TnB8wYd3",
	} {
		if got := Find(text); len(got) > 0 {
			t.Errorf("%q has %+v", text, got)
		}
	}
}

// The checksum is the one that Python's zlib.crc32 gives.
func TestChecksum(t *testing.T) {
	for token, want := range map[string]bool{github + "06HU5B": true, github + "06HU5C": false} {
		if got := Find("token " + token); len(got) != 1 || got[0].Live != want {
			t.Errorf("%s is found as %+v, want live %v", token, got, want)
		}
	}
}

func TestBounds(t *testing.T) {
	if n := len(Find(strings.Repeat("password: Winter2024!x "+drawnText+" api_key="+drawnText+"\n", 1e4))); n == 0 || n > maxFound {
		t.Errorf("%d credentials", n)
	}
}

func TestShorten(t *testing.T) {
	for secret, want := range map[string]string{"Winter2024!x": "Wint…!x", "short": "…"} {
		if got := Shorten(secret); got != want {
			t.Errorf("%s is shortened to %s, want %s", secret, got, want)
		}
	}
}

func FuzzFind(f *testing.F) {
	for _, seed := range []string{"password: Winter2024!x", "postgres://a:b%40cdefg1@c", jwtHead + ".eyJhIjoxfQ.aaaaaaaaaaaaaaaaaaaa", "-----BEGIN PRIVATE KEY-----\\nMC4=\n-----END PRIVATE KEY-----", github + "000000"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, c := range Find(text) {
			if !strings.Contains(text, c.Value) || c.Value == "" {
				t.Errorf("%q is not in %q", c.Value, text)
			}
		}
	})
}
