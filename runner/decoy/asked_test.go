package decoy

import (
	"regexp"
	"testing"
)

func TestAsked(t *testing.T) {
	for name, want := range map[string]string{
		"ACME_API_KEY": `[A-Za-z0-9]{40}`, "SLACK_USER_TOKEN": `xoxb-.*`, "GITHUB_PAT": `github_pat_.*`, "AWS_SESSION_TOKEN": `[A-Za-z0-9]{40}`, "ACME_URL": `https://acme\.example\.com`,
		"MONGODB_URI": `mongodb://app:\w{32}@db\.example\.com:27017/app`, "MDB_MCP_CONNECTION_STRING": `postgresql://.*`, "DB_HOST": `db\.example\.com`, "DB_PORT": `443`, "MCP_EMAIL_ADDRESS": `.*@example\.com`, "SERVER_ADDRESS": `https://.*`, "ALLOW_COMMANDS": `ls,cat,echo`,
		"ACME_CLIENT_ID": `[0-9a-f-]{36}`, "ACME_ORG": `app`, "ACME_EMAIL": `.*@example\.com`, "ACME_MODE": `\w{40}`,
	} {
		v := Asked(name, "")
		if !regexp.MustCompile(`^`+want+`$`).MatchString(v.Value) || !v.Asked || v.Name != name {
			t.Errorf("%s: %+v", name, v)
		}
		for _, secret := range v.Secrets {
			if len(secret) < minSecret {
				t.Errorf("%s: a secret of %d characters", name, len(secret))
			}
		}
	}
	if v := Asked("ACME_KEY", "ak-"); !regexp.MustCompile(`^ak-\w{40}$`).MatchString(v.Value) {
		t.Errorf("%+v", v)
	}
	if len(Asked("SLACK_USER_TOKEN", "").Hosts) == 0 || Asked("ACME_KEY", "").Hosts != nil {
		t.Error("services of known names")
	}
}
