//go:build dist

package dist

import (
	"os"
	"strings"
	"testing"
)

// TestS18Signature signs the checksums of a release as hack/dist.sh does, and verifies
// them as docs/releases.md says.
func TestS18Signature(t *testing.T) {
	t.Parallel()
	script, err := os.ReadFile("../../hack/dist.sh")
	if err != nil {
		t.Fatal(err)
	}
	_, sign, found := strings.Cut(string(script), "if [ -n \"${SIGNING_KEY:-}\" ]; then")
	if !found {
		t.Fatal("hack/dist.sh signs nothing")
	}
	sign, _, _ = strings.Cut("if true; then"+sign, "\necho ")
	dir := t.TempDir()
	shell(t, dir, `openssl ecparam -name prime256v1 -genkey -noout -out release.pem
openssl pkey -in release.pem -pubout -out release.pub
echo "0000  install.yaml" >SHA256SUMS
dist=.
SIGNING_KEY=release.pem
export SIGNING_KEY_PASSWORD=
`+sign)
	const verify = `base64 -d SHA256SUMS.sig >signature && openssl dgst -sha256 -verify release.pub -signature signature SHA256SUMS`
	shell(t, dir, verify)
	if out, err := try(t, dir, `echo more >>SHA256SUMS; `+verify); err == nil {
		t.Errorf("checksums that were changed verify: %s", out)
	}
}

// TestS18SigningKey: what is no key is said before anything is built.
func TestS18SigningKey(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	out, err := try(t, "../..", `echo none >"$KEY"; SIGNING_KEY="$KEY" hack/dist.sh "$TO"`, "KEY="+dir+"/key.pem", "TO="+dir+"/dist")
	if err == nil || !strings.Contains(out, "is no private key in PEM form") || strings.Count(out, "\n") != 1 {
		t.Errorf("%v: %s", err, out)
	}
}
