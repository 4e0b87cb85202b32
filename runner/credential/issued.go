package credential

import (
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"hash/crc32"
	"net/url"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// forms are formats that issuers publish, or that all of their keys have. The first group, if there is one, is the
// secret.
var forms = []struct {
	// start is the literal that every match begins with; it is searched for first.
	start string
	what  string
	form  *lazyregexp.Regexp
	// valid checks a match further; nil if the form is sufficient.
	valid func(string) bool
	// doubtful is set if it is for tests, or may be public in some uses.
	doubtful bool
}{
	{"gh", "a GitHub token", word(`gh[opsur]_[A-Za-z0-9]{36}`), checksummed, false},
	{"github_pat_", "a GitHub token", word(`github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}`), nil, false},
	{"npm_", "an npm token", word(`npm_[A-Za-z0-9]{36}`), checksummed, false},
	{"glpat-", "a GitLab token", word(`glpat-[\w-]{20,64}`), nil, false},
	{"A", "an AWS access key id", word(`A(?:KI|SI|BI|CC)A[A-Z2-7]{16}`), nil, true},
	{"xox", "a Slack token", word(`xox[abeoprs]-[0-9]{8,}-[\w-]{12,}`), nil, false},
	{"xapp-", "a Slack token", word(`xapp-[0-9]-[A-Z0-9]+-[0-9]+-[a-z0-9]{32,}`), nil, false},
	{"hooks.slack.com/", "the address of a Slack webhook", lazyregexp.New(`hooks\.slack\.com/services/(T[A-Z0-9]{6,}/B[A-Z0-9]{6,}/[A-Za-z0-9]{20,})`), nil, false},
	{"/api/webhooks/", "the address of a Discord webhook", lazyregexp.New(`discord(?:app)?\.com/api/webhooks/([0-9]{17,20}/[\w-]{60,})`), nil, false},
	{"k_live_", "a Stripe key", word(`[rs]k_live_[A-Za-z0-9]{16,}`), nil, false},
	{"sk-ant-", "an Anthropic key", word(`sk-ant-[a-z0-9]+-[\w-]{32,}`), nil, false},
	{"T3BlbkFJ", "an OpenAI key", word(`sk-[\w-]{8,}T3BlbkFJ[\w-]{8,}`), nil, false},
	{"sk-", "a key of the form of OpenAI's", word(`sk-(?:proj-|svcacct-|or-v1-)?[A-Za-z0-9]{20,}`), nil, true},
	{"AIza", "a Google API key", word(`AIza[\w-]{35}`), nil, true},
	{"GOCSPX-", "a secret of a Google OAuth client", word(`GOCSPX-[\w-]{28}`), nil, false},
	{"ya29.", "an access token of Google", word(`ya29\.[\w-]{40,}`), nil, false},
	{"hf_", "a Hugging Face token", word(`hf_[A-Za-z]{34}`), nil, false},
	{"SG.", "a SendGrid key", word(`SG\.[\w-]{22}\.[\w-]{43}`), nil, false},
	{":AA", "a token of a Telegram bot", word(`[0-9]{8,10}:AA[\w-]{33}`), nil, false},
	{"pypi-AgE", "a PyPI token", word(`pypi-AgE[\w-]{50,}`), nil, false},
	{"dop_v1_", "a DigitalOcean token", word(`dop_v1_[0-9a-f]{64}`), nil, false},
	{"AccountKey=", "the key of an Azure storage account", lazyregexp.New(`AccountKey=([A-Za-z0-9+/]{86}==)`), nil, false},
	{"dapi", "a Databricks token", word(`dapi[0-9a-f]{32}`), nil, false},
	{"shp", "a Shopify token", word(`shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}`), nil, false},
	{"lin_api_", "a Linear key", word(`lin_api_[A-Za-z0-9]{40}`), nil, false},
	{"ntn_", "a Notion token", word(`ntn_[A-Za-z0-9]{40,}`), nil, false},
	{"PMAK-", "a Postman key", word(`PMAK-[0-9a-f]{24}-[0-9a-f]{34}`), nil, false},
	{"hvs.", "a Vault token", word(`hvs\.[\w-]{24,}`), nil, false},
	{"tskey-", "a Tailscale key", word(`tskey-[a-z]+-\w{8,}-\w{16,}`), nil, false},
	{"gsk_", "a Groq key", word(`gsk_[A-Za-z0-9]{48,}`), nil, false},
	{"AGE-SECRET-KEY-1", "an age identity", word(`AGE-SECRET-KEY-1[0-9A-Z]{58}`), nil, false},
}

// word is a form that stands by itself.
func word(form string) *lazyregexp.Regexp { return lazyregexp.New(`\b(` + form + `)(?:[^\w-]|$)`) }

// issued finds keys with the format of their issuer.
func issued(text string) (all []Credential) {
	for _, f := range forms {
		if !strings.Contains(text, f.start) {
			continue
		}
		for _, at := range f.form.FindAllStringSubmatchIndex(text, maxFound) {
			value := text[at[2]:at[3]]
			if _, figures, _ := classes(value); placeholder(value) || !drawn(value) || figures < 2 && f.start != "hf_" {
				continue
			}
			live := !f.doubtful && (f.valid == nil || f.valid(value))
			all = append(all, Credential{Kind: Issued, What: f.what, Value: value, Live: live, at: at[2]})
		}
	}
	return all
}

// checksummed reports whether a token of GitHub or npm ends in the CRC-32 of the rest, in base 62 ("Behind GitHub's
// new authentication token formats", 2021).
func checksummed(token string) bool {
	const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	_, body, _ := strings.Cut(token, "_")
	sum := crc32.ChecksumIEEE([]byte(body[:30]))
	var want [6]byte
	for i := len(want) - 1; i >= 0; i-- {
		want[i] = digits[sum%62]
		sum /= 62
	}
	return body[30:] == string(want[:])
}

var pemBlock = lazyregexp.New(`-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----(?:\\r|\\n|[A-Za-z0-9+/=\s:,-])+?-----END (?:[A-Z]+ )*PRIVATE KEY-----`)

// privateKeys finds complete keys in PEM; documentation omits most of the bytes.
func privateKeys(text string) (all []Credential) {
	if !strings.Contains(text, "PRIVATE KEY-----") {
		return nil
	}
	for _, at := range pemBlock.FindAllStringIndex(text, maxFound) {
		value := text[at[0]:at[1]]
		lines := strings.Split(strings.NewReplacer(`\r`, "", `\n`, "\n", "\r", "").Replace(value), "\n")
		for i, line := range lines {
			lines[i] = strings.TrimSpace(line)
		}
		block, _ := pem.Decode([]byte(strings.Join(lines, "\n") + "\n"))
		if block == nil || len(block.Bytes) < 32 {
			continue
		}
		all = append(all, Credential{Kind: PrivateKey, What: "a private key", Value: value, Live: isKey(block), at: at[0]})
	}
	return all
}

// isKey reports whether a block contains a key of the stated type. For encrypted keys and those of OpenSSH, the
// beginning must suffice.
func isKey(block *pem.Block) bool {
	_, rsa := x509.ParsePKCS1PrivateKey(block.Bytes)
	_, ec := x509.ParseECPrivateKey(block.Bytes)
	_, pkcs8 := x509.ParsePKCS8PrivateKey(block.Bytes)
	return rsa == nil || ec == nil || pkcs8 == nil || strings.HasPrefix(string(block.Bytes), "openssh-key-v1\x00")
}

var webToken = lazyregexp.New(`\b(eyJ[\w-]{8,})\.(eyJ[\w-]{8,})\.([\w-]{16,})`)

// webTokens finds signed tokens whose header names an algorithm, except the well-known example of jwt.io.
func webTokens(text string) (all []Credential) {
	if !strings.Contains(text, "eyJ") {
		return nil
	}
	for _, at := range webToken.FindAllStringSubmatchIndex(text, maxFound) {
		var head struct {
			Algorithm string `json:"alg"`
		}
		var claims map[string]any
		raw, bad := base64.RawURLEncoding.DecodeString(text[at[2]:at[3]])
		body, worse := base64.RawURLEncoding.DecodeString(text[at[4]:at[5]])
		if bad != nil || worse != nil || json.Unmarshal(raw, &head) != nil || json.Unmarshal(body, &claims) != nil {
			continue
		}
		if head.Algorithm == "" || head.Algorithm == "none" || claims["name"] == "John Doe" {
			continue
		}
		all = append(all, Credential{Kind: WebToken, What: "a signed JSON web token", Value: text[at[0]:at[1]], at: at[0]})
	}
	return all
}

var withPassword = lazyregexp.New(`\b[a-z][a-z0-9+.-]{1,30}://([^\s:/@"'<>]{0,128}):([^\s:/@"'<>]{5,128})@([\w.-]+)`)

// inURLs finds passwords in URLs and connection strings.
func inURLs(text string) (all []Credential) {
	if !strings.Contains(text, "://") {
		return nil
	}
	for _, at := range withPassword.FindAllStringSubmatchIndex(text, maxFound) {
		user, value, host := text[at[2]:at[3]], text[at[4]:at[5]], text[at[6]:at[7]]
		password, err := url.PathUnescape(value)
		if err != nil || password == user || placeholder(password) || !memorable(password) || placeholder(host) {
			continue
		}
		all = append(all, Credential{Kind: URL, What: "a password in a URL", Value: value, at: at[4]})
	}
	return all
}
