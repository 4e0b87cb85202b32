//go:build outputs

package outputs

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	intoto "github.com/in-toto/attestation/go/v1"
	"github.com/secure-systems-lab/go-securesystemslib/dsse"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/statement"
)

// keyPair makes a key of one of the kinds, in PEM.
func keyPair(t *testing.T, edwards bool) (private, public []byte, raw crypto.PublicKey) {
	t.Helper()
	var key crypto.Signer
	var err error
	if edwards {
		_, key, err = ed25519.GenerateKey(rand.Reader)
	} else {
		key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	}
	if err != nil {
		t.Fatal(err)
	}
	encode := func(kind string, der []byte, err error) []byte {
		if err != nil {
			t.Fatal(err)
		}
		return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	private = encode("PRIVATE KEY", der, err)
	der, err = x509.MarshalPKIXPublicKey(key.Public())
	return private, encode("PUBLIC KEY", der, err), key.Public()
}

// envelopeOf signs the statement of a report about an image.
func envelopeOf(t *testing.T, r report.Report, image string, private []byte) []byte {
	t.Helper()
	of, err := statement.ReadImage(image)
	if err != nil {
		t.Fatal(err)
	}
	s, err := statement.New(r, of)
	if err != nil {
		t.Fatal(err)
	}
	key, err := statement.ReadPrivateKey(private, nil)
	if err != nil {
		t.Fatal(err)
	}
	envelope, err := key.Sign(s)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := json.Marshal(envelope)
	if err != nil {
		t.Fatal(err)
	}
	return encoded
}

// verifier checks a signature by nothing of ours.
type verifier struct{ key crypto.PublicKey }

func (v verifier) KeyID() (string, error)   { return "", nil }
func (v verifier) Public() crypto.PublicKey { return v.key }
func (v verifier) Verify(_ context.Context, data, signature []byte) error {
	ok := false
	switch key := v.key.(type) {
	case ed25519.PublicKey:
		ok = ed25519.Verify(key, data, signature)
	case *ecdsa.PublicKey:
		sum := crypto.SHA256.New()
		sum.Write(data)
		ok = ecdsa.VerifyASN1(key, sum.Sum(nil), signature)
	}
	if !ok {
		return errors.New("wrong signature")
	}
	return nil
}

var anImage = "registry.example/team/notes@sha256:" + strings.Repeat("a", 64)

// TestStatements: what is stated of every report, a hostile one too, is an envelope to the
// library of DSSE and a statement to that of in-toto; and nothing is that was changed.
func TestStatements(t *testing.T) {
	for label, r := range reports(t) {
		if r.Server.URL != "" || len(r.Server.Command) == 0 {
			continue // there is no statement of what was not run
		}
		for _, edwards := range []bool{false, true} {
			private, _, public := keyPair(t, edwards)
			if of, _ := statement.ReadImage(anImage); r.Verdict == report.VerdictPass && r.Incomplete != nil {
				if _, err := statement.New(r, of); err == nil {
					t.Errorf("%s: a Pass of an audit that was not complete", label)
				}
				continue
			}
			encoded := envelopeOf(t, r, anImage, private)
			var envelope dsse.Envelope
			if err := json.Unmarshal(encoded, &envelope); err != nil {
				t.Fatal(err)
			}
			check, err := dsse.NewEnvelopeVerifier(verifier{public})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := check.Verify(t.Context(), &envelope); err != nil {
				t.Errorf("%s: DSSE refuses the envelope: %v", label, err)
			}
			payload, err := envelope.DecodeB64Payload()
			if err != nil {
				t.Fatal(err)
			}
			var s intoto.Statement
			if err := protojson.Unmarshal(payload, &s); err != nil {
				t.Fatalf("%s: %v", label, err)
			}
			if err := s.Validate(); err != nil {
				t.Errorf("%s: in-toto refuses the statement: %v", label, err)
			}
			if got := s.Predicate.AsMap()["verdict"]; got != string(r.Verdict) {
				t.Errorf("%s: the verdict is %v, want %s", label, got, r.Verdict)
			}
			envelope.Payload = base64.StdEncoding.EncodeToString(append(payload, ' '))
			if _, err := check.Verify(t.Context(), &envelope); err == nil {
				t.Errorf("%s: a payload that was changed is accepted", label)
			}
		}
	}
}

// TestCosign has cosign verify an envelope offline, and attached to an image in a registry
// on the loopback. Building cosign takes minutes, so that it is used where it is.
func TestCosign(t *testing.T) {
	cosign := os.Getenv("COSIGN")
	if cosign == "" {
		var err error
		if cosign, err = exec.LookPath("cosign"); err != nil {
			t.Skip("cosign is not here, and takes minutes to build: go install github.com/sigstore/cosign/v2/cmd/cosign@v2.6.5, or set COSIGN")
		}
	}
	run := func(args ...string) error {
		command := exec.Command(cosign, args...)
		command.Env = append(os.Environ(), "TUF_ROOT="+t.TempDir())
		out, err := command.CombinedOutput()
		if err != nil {
			t.Logf("cosign %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return err
	}
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer server.Close()
	repository := strings.TrimPrefix(server.URL, "http://") + "/team/notes"
	tag, err := name.NewTag(repository + ":1")
	if err != nil {
		t.Fatal(err)
	}
	image, err := random.Image(64, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.Write(tag, image); err != nil {
		t.Fatal(err)
	}
	digest, err := image.Digest()
	if err != nil {
		t.Fatal(err)
	}
	var passed report.Report
	for _, r := range reports(t) {
		if r.Verdict == report.VerdictPass && r.Server.URL == "" && len(r.Server.Command) > 0 {
			passed = r
		}
	}
	for _, edwards := range []bool{false, true} {
		private, public, _ := keyPair(t, edwards)
		_, other, _ := keyPair(t, edwards)
		dir := t.TempDir()
		file := func(name string, content []byte) string {
			path := filepath.Join(dir, name)
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
			return path
		}
		reference := repository + "@" + digest.String()
		envelope := file("envelope.json", envelopeOf(t, passed, reference, private))
		key, wrong := file("key.pub", public), file("wrong.pub", other)
		offline := func(key, hex string) error {
			return run("verify-blob-attestation", "--insecure-ignore-tlog", "--type", statement.PredicateType, "--key", key,
				"--signature", envelope, "--digest", hex, "--digestAlg", "sha256")
		}
		if offline(key, digest.Hex) != nil {
			t.Error("cosign refuses the envelope")
		}
		if offline(wrong, digest.Hex) == nil || offline(key, strings.Repeat("b", 64)) == nil {
			t.Error("cosign accepts another key, or another digest")
		}
		if run("attach", "attestation", "--attestation", envelope, reference) != nil {
			t.Fatal("cosign does not attach the envelope")
		}
		attached := func(key string) error {
			return run("verify-attestation", "--insecure-ignore-tlog", "--type", statement.PredicateType, "--key", key, reference)
		}
		if attached(key) != nil || attached(wrong) == nil {
			t.Error("cosign refuses what is attached, or accepts another key")
		}
	}
}
