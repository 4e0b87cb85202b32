package canary

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/binary"
	"encoding/pem"
	"math/big"
	"strings"
)

// The alphabets of tokens.
const (
	digits = "0123456789"
	upper  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	lower  = "abcdefghijklmnopqrstuvwxyz"
	alnum  = digits + upper + lower
	base32 = upper + "234567"
	hex    = digits + "abcdef"
)

// kind is one file that a thief looks for. make returns its content and the
// token in it.
type kind struct {
	name    string
	routine bool
	make    func() (content, token string, err error)
}

// kinds are the files, in the formats of the tools that they belong to.
var kinds = []kind{
	{name: ".ssh/id_rsa", make: rsaKey},
	{name: ".ssh/id_ed25519", make: ed25519Key},
	{name: ".aws/credentials", make: text("", 40,
		"[default]\naws_access_key_id = AKIA"+"{id}"+"\naws_secret_access_key = {token}\nregion = us-east-1\n")},
	{name: ".env", make: text("sk_live_", 32,
		"APP_ENV=production\nPAYMENT_SECRET_KEY={token}\n")},
	{name: ".netrc", routine: true, make: text("", 32,
		"machine git.example.com\n  login deploy\n  password {token}\n")},
	{name: ".npmrc", routine: true, make: text("npm_", 36,
		"//npm.example.com/:_authToken={token}\n")},
	{name: ".pypirc", make: text("pypi-", 64,
		"[distutils]\nindex-servers = pypi\n\n[pypi]\nusername = __token__\npassword = {token}\n")},
	{name: ".git-credentials", make: text("ghp_", 36,
		"https://deploy:{token}@github.com\n")},
	{name: ".kube/config", make: text("", 48, kubeConfig)},
	{name: ".docker/config.json", make: dockerConfig},
	{name: ".config/gcloud/application_default_credentials.json", make: text("1//0", 60,
		`{"client_id":"764086051850.apps.googleusercontent.com","client_secret":"{id}","refresh_token":"{token}","type":"authorized_user"}`+"\n")},
	{name: ".config/gh/hosts.yml", make: text("gho_", 36,
		"github.com:\n    user: deploy\n    oauth_token: {token}\n    git_protocol: https\n")},
	{name: ".claude.json", make: text("sk-ant-api03-", 64,
		`{"numStartups":12,"primaryApiKey":"{token}"}`+"\n")},
}

// variables are the names under which programs expect secrets. None of them
// changes what a runtime does.
var variables = []struct {
	name, prefix, alphabet string
	length                 int
}{
	{"AWS_ACCESS_KEY_ID", "AKIA", base32, 16},
	{"AWS_SECRET_ACCESS_KEY", "", alnum, 40},
	{"GITHUB_TOKEN", "ghp_", alnum, 36},
	{"NPM_TOKEN", "npm_", alnum, 36},
	{"OPENAI_API_KEY", "sk-proj-", alnum, 48},
	{"ANTHROPIC_API_KEY", "sk-ant-api03-", alnum, 64},
	{"SLACK_BOT_TOKEN", "xoxb-", digits, 24},
	{"DATABASE_PASSWORD", "", hex, 32},
}

const kubeConfig = `apiVersion: v1
kind: Config
clusters:
- name: production
  cluster:
    server: https://kubernetes.example.com:6443
contexts:
- name: production
  context:
    cluster: production
    user: admin
current-context: production
users:
- name: admin
  user:
    token: {token}
`

// text fills a template: {token} with the token, {id} with a second random word
// that nobody looks for.
func text(prefix string, length int, template string) func() (string, string, error) {
	return func() (string, string, error) {
		token := prefix + random(alnum, length)
		content := strings.NewReplacer("{token}", token, "{id}", random(base32, 16)).Replace(template)
		return content, token, nil
	}
}

// dockerConfig holds the password the way docker stores it: base64 of
// "user:password", which is what a thief would carry off.
func dockerConfig() (string, string, error) {
	token := base64.StdEncoding.EncodeToString([]byte("deploy:" + random(alnum, 35)))
	return `{"auths":{"registry.example.com":{"auth":"` + token + `"}}}` + "\n", token, nil
}

// rsaKey is a real key of the format that ssh-keygen -m PEM writes.
func rsaKey() (string, string, error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return "", "", err
	}
	return armour("RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(key))
}

// ed25519Key is a real key in OpenSSH's own format (PROTOCOL.key of OpenSSH).
func ed25519Key() (string, string, error) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return "", "", err
	}
	const algorithm = "ssh-ed25519"
	publicBlob := sshStrings([]byte(algorithm), public)
	check := make([]byte, 4)
	if _, err := rand.Read(check); err != nil {
		return "", "", err
	}
	secret := join(check, check, sshStrings([]byte(algorithm), public, private, []byte("deploy@build")))
	for pad := byte(1); len(secret)%8 != 0; pad++ {
		secret = append(secret, pad)
	}
	blob := join([]byte("openssh-key-v1\x00"), sshStrings([]byte("none"), []byte("none"), nil),
		binary.BigEndian.AppendUint32(nil, 1), sshStrings(publicBlob, secret))
	return armour("OPENSSH PRIVATE KEY", blob)
}

// armour writes a PEM block; its token is the third line of base64, the first
// that consists of key material alone in both formats.
func armour(label string, der []byte) (string, string, error) {
	content := string(pem.EncodeToMemory(&pem.Block{Type: label, Bytes: der}))
	return content, strings.Split(content, "\n")[3], nil
}

// sshStrings encodes each value as RFC 4251 does a string: length, bytes.
func sshStrings(values ...[]byte) []byte {
	var b []byte
	for _, v := range values {
		b = binary.BigEndian.AppendUint32(b, uint32(len(v)))
		b = append(b, v...)
	}
	return b
}

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// random is length characters of the alphabet. The generator of this platform
// cannot fail: crypto/rand ends the process rather than return an error.
func random(alphabet string, length int) string {
	b := make([]byte, length)
	for i := range b {
		n, err := rand.Int(rand.Reader, big.NewInt(int64(len(alphabet))))
		if err != nil {
			panic(err)
		}
		b[i] = alphabet[n.Int64()]
	}
	return string(b)
}
