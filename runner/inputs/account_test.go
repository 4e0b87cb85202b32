package inputs

import (
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"testing"
)

func TestAccountFile(t *testing.T) {
	var kept struct {
		Installed map[string]any
		Key       string `json:"private_key"`
		Refresh   string `json:"refresh_token"`
	}
	for _, f := range Files() {
		if f.Path == AccountFiles[0] && json.Unmarshal(f.Content, &kept) != nil {
			t.Fatalf("not JSON: %s", f.Content)
		}
	}
	if kept.Installed["client_id"] == nil || kept.Refresh == "" {
		t.Errorf("%+v", kept)
	}
	block, _ := pem.Decode([]byte(kept.Key))
	if block == nil {
		t.Fatal("the key is not in PEM")
	}
	if _, err := x509.ParsePKCS8PrivateKey(block.Bytes); err != nil {
		t.Error(err)
	}
	if o := (Options{}); len(o.having("json", false)) != 1 {
		t.Errorf("tools are offered it: %v", o.having("json", false))
	}
}
