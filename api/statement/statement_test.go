package statement_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/secure-systems-lab/go-securesystemslib/encrypted"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/statement"
)

var digest = "sha256:" + strings.Repeat("a", 64)

func aReport(change ...func(*report.Report)) report.Report {
	r := report.Report{
		SchemaVersion: report.SchemaVersion, Server: report.ServerRun{Name: "notes", Command: []string{"node", "server.js"}},
		Verdict: report.VerdictPass, Reason: report.ReasonPassed, Message: "Pass, of 1 of 1 tools: no findings", FailOn: report.SeverityHigh,
		StartTime: report.At(time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)), EndTime: report.At(time.Date(2026, 11, 22, 9, 1, 0, 0, time.UTC)),
		ManifestDigest: "sha256:" + strings.Repeat("1", 64), Tracer: report.Component{Name: "strace", Version: "6.1"},
	}
	for _, one := range change {
		one(&r)
	}
	return r
}

func anImage(t *testing.T) statement.Image {
	t.Helper()
	image, err := statement.ReadImage("registry.example:5000/team/notes:1.4@" + digest)
	if err != nil {
		t.Fatal(err)
	}
	return image
}

// encode writes a key as PEM.
func encode(t *testing.T, kind string, der []byte, err error) []byte {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

func p256(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func pkcs8(t *testing.T, key crypto.PrivateKey) []byte {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(key)
	return encode(t, "PRIVATE KEY", der, err)
}

func signed(t *testing.T) (statement.Envelope, *statement.PrivateKey) {
	t.Helper()
	key, err := statement.ReadPrivateKey(pkcs8(t, p256(t)), nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := statement.New(aReport(), anImage(t))
	if err != nil {
		t.Fatal(err)
	}
	envelope, err := key.Sign(s)
	if err != nil {
		t.Fatal(err)
	}
	return envelope, key
}

// TestKeys of each form sign what their public key verifies.
func TestKeys(t *testing.T) {
	curve := p256(t)
	_, edwards, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	sec1, err := x509.MarshalECPrivateKey(curve)
	sec1PEM := encode(t, "EC PRIVATE KEY", sec1, err)
	plain, _ := pem.Decode(pkcs8(t, curve))
	box, err := encrypted.Encrypt(plain.Bytes, []byte("secret"))
	cosign := encode(t, "ENCRYPTED SIGSTORE PRIVATE KEY", box, err)
	for name, test := range map[string]struct {
		pem    []byte
		public crypto.PublicKey
	}{
		"PKCS#8, P-256":      {pkcs8(t, curve), &curve.PublicKey},
		"PKCS#8, Ed25519":    {pkcs8(t, edwards), edwards.Public()},
		"SEC 1":              {sec1PEM, &curve.PublicKey},
		"cosign's encrypted": {cosign, &curve.PublicKey},
	} {
		key, err := statement.ReadPrivateKey(test.pem, []byte("secret"))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		der, err := x509.MarshalPKIXPublicKey(test.public)
		public, err := statement.ReadPublicKey(encode(t, "PUBLIC KEY", der, err))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		made, err := statement.New(aReport(), anImage(t))
		if err != nil {
			t.Fatal(err)
		}
		envelope, err := key.Sign(made)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got, err := envelope.Verify(public)
		if err != nil || !got.About(digest) || got.About("sha256:"+strings.Repeat("b", 64)) || got.Subject[0].Name != "registry.example:5000/team/notes" {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	if _, err := statement.ReadPrivateKey(cosign, []byte("wrong")); !errors.Is(err, statement.ErrPassword) {
		t.Errorf("with a wrong password: %v", err)
	}
}

// TestKeysRefused: in one line that says what to give.
func TestKeysRefused(t *testing.T) {
	large, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	other, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	costly := `{"kdf":{"name":"scrypt","params":{"N":1073741824,"r":8,"p":1},"salt":"AA=="},"cipher":{"name":"nacl/secretbox","nonce":"AA=="},"ciphertext":"AA=="}`
	for name, key := range map[string][]byte{
		"nothing": nil, "text": []byte("a key"), "RSA": pkcs8(t, large), "P-384": pkcs8(t, other),
		"a certificate": encode(t, "CERTIFICATE", []byte{1}, nil), "a broken one": encode(t, "PRIVATE KEY", []byte{1}, nil),
		"a large one": []byte(strings.Repeat("a", 1<<20)), "a costly one": encode(t, "ENCRYPTED SIGSTORE PRIVATE KEY", []byte(costly), nil),
		"no box": encode(t, "ENCRYPTED COSIGN PRIVATE KEY", []byte("{"), nil),
	} {
		if got, err := statement.ReadPrivateKey(key, []byte("p")); err == nil || got != nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, %v", name, got, err)
		}
		if got, err := statement.ReadPublicKey(key); err == nil || got != nil {
			t.Errorf("%s as a public key: %v", name, got)
		}
	}
}

// TestPAE is the example of DSSE's protocol.md.
func TestPAE(t *testing.T) {
	got := string(statement.PAE("http://example.com/HelloWorld", []byte("hello world")))
	if want := "DSSEv1 29 http://example.com/HelloWorld 11 hello world"; got != want {
		t.Errorf("PAE is %q, want %q", got, want)
	}
}

// TestRefused: what was changed in any way is no statement.
func TestRefused(t *testing.T) {
	envelope, key := signed(t)
	payload, _ := base64.StdEncoding.DecodeString(envelope.Payload)
	flipped := strings.Replace(string(payload), `"verdict":"Pass"`, `"verdict":"Fail"`, 1)
	other, err := statement.ReadPrivateKey(pkcs8(t, p256(t)), nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		change func(*statement.Envelope)
		key    *statement.PrivateKey
		want   error
	}{
		"another payload": {func(e *statement.Envelope) { e.Payload = base64.StdEncoding.EncodeToString([]byte(flipped)) }, key, statement.ErrBadSignature},
		"another type":    {func(e *statement.Envelope) { e.PayloadType = "text/plain" }, key, statement.ErrBadSignature},
		"another key":     {func(*statement.Envelope) {}, other, statement.ErrBadSignature},
		"no signature":    {func(e *statement.Envelope) { e.Signatures = nil }, key, statement.ErrNoSignature},
		"an empty one":    {func(e *statement.Envelope) { e.Signatures = []statement.Signature{{}} }, key, statement.ErrBadSignature},
		"another id, with a signature that is right": {func(e *statement.Envelope) {
			e.Signatures = []statement.Signature{{Sig: "AAAA"}, {KeyID: "x", Sig: e.Signatures[0].Sig}}
		}, key, nil},
	} {
		changed := envelope
		changed.Signatures = append([]statement.Signature(nil), envelope.Signatures...)
		test.change(&changed)
		if _, err := changed.Verify(test.key.Public()); !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", name, err, test.want)
		}
	}
}

// TestNeverAPass of what was not complete, nor of what has no image.
func TestNeverAPass(t *testing.T) {
	for name, change := range map[string]func(*report.Report){
		"incomplete":     func(r *report.Report) { r.Incomplete = &report.Incomplete{Reason: report.ReasonTimeout} },
		"truncated":      func(r *report.Report) { r.Truncated = []report.Truncation{{Field: "findings", Dropped: 1}} },
		"another reason": func(r *report.Report) { r.Reason = report.ReasonTracerLost },
		"another word":   func(r *report.Report) { r.Verdict = "Passed" },
		"no command":     func(r *report.Report) { r.Server.Command = nil },
		"a long command": func(r *report.Report) { r.Server.Command = []string{strings.Repeat("a", 9<<10)} },
		"a cut command":  func(r *report.Report) { r.Server.Command = []string{"sh", "-c", strings.Repeat("a", 1<<10)}; r.Cap() },
		"findings":       func(r *report.Report) { r.Findings = []report.Finding{{Rule: "A", Severity: report.SeverityHigh}} },
		"an odd finding": func(r *report.Report) { r.Findings = []report.Finding{{Rule: "A", Severity: "Terrible"}} },
		"not run":        func(r *report.Report) { r.Server.URL = "https://example.com" },
	} {
		if got, err := statement.New(aReport(change), anImage(t)); err == nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
	held := report.Finding{Rule: "A", Severity: report.SeverityHigh, Suppressed: &report.Suppressed{Reason: "known"}}
	for name, change := range map[string]func(*report.Report){
		"suppressed":          func(r *report.Report) { r.Findings = []report.Finding{held} },
		"below the threshold": func(r *report.Report) { r.Findings = []report.Finding{{Rule: "A", Severity: report.SeverityLow}} },
		"without a threshold": func(r *report.Report) {
			r.FailOn, r.Findings = "", []report.Finding{{Rule: "A", Severity: report.SeverityHigh}}
		},
	} {
		if _, err := statement.New(aReport(change), anImage(t)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := statement.New(aReport(), statement.Image{}); !errors.Is(err, statement.ErrNoImage) {
		t.Errorf("without an image: %v", err)
	}
	inconclusive, err := statement.New(aReport(func(r *report.Report) {
		r.Verdict, r.Reason, r.Incomplete = report.VerdictInconclusive, report.ReasonTimeout, &report.Incomplete{Reason: report.ReasonTimeout}
	}), anImage(t))
	if err != nil || inconclusive.Predicate.Complete {
		t.Errorf("an inconclusive one: %+v, %v", inconclusive.Predicate, err)
	}
}

// TestSignedNonsense: a signature makes no statement true that there cannot be.
func TestSignedNonsense(t *testing.T) {
	_, key := signed(t)
	made, err := statement.New(aReport(), anImage(t))
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*statement.Statement){
		"a Pass that is incomplete": func(s *statement.Statement) { s.Predicate.Complete = false },
		"another predicate":         func(s *statement.Statement) { s.PredicateType = "https://slsa.dev/verification_summary/v1" },
		"another type of statement": func(s *statement.Statement) { s.Type = "https://in-toto.io/Statement/v0.1" },
		"no subject":                func(s *statement.Statement) { s.Subject = nil },
		"a digest that is too short": func(s *statement.Statement) {
			s.Subject = []statement.Subject{{Name: "a", Digest: map[string]string{"sha256": "aa"}}}
		},
	} {
		s := made
		change(&s)
		envelope, err := key.Sign(s)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := envelope.Verify(key.Public()); err == nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestReadImage(t *testing.T) {
	for _, wrong := range []string{"", "notes", "notes:1", "@" + digest, "notes@sha256:abc", "notes@" + strings.ToUpper(digest), "notes@" + digest + "\n"} {
		if got, err := statement.ReadImage(wrong); err == nil {
			t.Errorf("%q is %+v", wrong, got)
		}
	}
}

// FuzzVerify: no envelope that the key has not signed is accepted, whatever is in it.
func FuzzVerify(f *testing.F) {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		f.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(private.Public())
	if err != nil {
		f.Fatal(err)
	}
	key, err := statement.ReadPublicKey(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(`{"payloadType":"application/vnd.in-toto+json","payload":"e30=","signatures":[{"sig":"AAAA"}]}`))
	f.Add([]byte(`{"payloadType":"application/vnd.in-toto+json","payload":"e30=","signatures":[]} {}`))
	f.Fuzz(func(t *testing.T, encoded []byte) {
		envelope, err := statement.Decode(encoded)
		if err != nil {
			return
		}
		if s, err := envelope.Verify(key); err == nil {
			t.Errorf("accepted %+v", s)
		}
		again, err := json.Marshal(envelope)
		if err != nil {
			t.Fatal(err)
		}
		if len(again) <= statement.MaxEnvelopeBytes {
			if _, err := statement.Decode(again); err != nil {
				t.Errorf("not read again: %v", err)
			}
		}
	})
}

func TestExposure(t *testing.T) {
	image := statement.Image{Audited: statement.Audited{KnownBy: statement.KnownByClaim}, Digests: []string{digest}}
	s, err := statement.New(aReport(), image)
	if err != nil || s.Predicate.Exposure != nil {
		t.Errorf("without one: %+v, %v", s.Predicate.Exposure, err)
	}
	s, err = statement.New(aReport(func(r *report.Report) {
		e := report.ExposureOf([]report.ExposureItem{{Kind: report.ExposesCommandExecution, Reach: report.ReachArbitrary, Basis: report.BasisProven}})
		r.Exposure = &e
	}), image)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := json.Marshal(s.Predicate.Exposure)
	if want := `{"score":75,"level":"Critical","kinds":[{"kind":"CommandExecution","reach":"Arbitrary"}]}`; err != nil || string(encoded) != want {
		t.Errorf("%s, %v, want %s", encoded, err, want)
	}
}
