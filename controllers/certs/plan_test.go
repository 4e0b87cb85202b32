package certs

import (
	"bytes"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"maps"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

var names = Names("mcpaudit-system")

// accepts reports whether an API server that trusts a bundle takes what is served.
func accepts(t *testing.T, now time.Time, bundle []byte, served map[string][]byte) error {
	t.Helper()
	pair, err := tls.X509KeyPair(served[corev1.TLSCertKey], served[corev1.TLSPrivateKeyKey])
	if err != nil {
		t.Fatal(err)
	}
	return verify(now, pair.Leaf, parseAll(bundle), names)
}

func makePlan(t *testing.T, now time.Time, data map[string][]byte, trusted []byte) Plan {
	t.Helper()
	plan, err := Make(now, data, names, trusted)
	if err != nil {
		t.Fatal(err)
	}
	if err := accepts(t, now, plan.Data[caBundleEntry], plan.Data); err != nil {
		t.Fatalf("%s: what is planned is not valid: %v", now, err)
	}
	if !plan.CheckAt.After(now) {
		t.Fatalf("%s: again at %s", now, plan.CheckAt)
	}
	return plan
}

// TestNoMomentIsRefused over ten years, in which the API server learns of each bundle
// long after it was written, and a replica of each certificate.
func TestNoMomentIsRefused(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	data := makePlan(t, now, nil, nil).Data
	trusted, served := data[caBundleEntry], data
	renewals := map[string]int{}
	for end := now.AddDate(10, 0, 0); now.Before(end); {
		plan := makePlan(t, now, data, trusted)
		if plan.Reason != "" {
			renewals[plan.Reason]++
			if again := makePlan(t, now, plan.Data, trusted); again.Reason != "" {
				t.Fatalf("%s: %s twice: %s", now, plan.Reason, again.Reason)
			}
		}
		// The old certificate is still served, the old bundle still trusted, while
		// either of the new ones is known somewhere.
		data = plan.Data
		for _, bundle := range [][]byte{trusted, data[caBundleEntry]} {
			for _, by := range []map[string][]byte{served, data} {
				if err := accepts(t, now, bundle, by); err != nil {
					t.Fatalf("%s: %v", now, err)
				}
			}
		}
		trusted, served = data[caBundleEntry], data
		if n := len(parseAll(trusted)); n > 2 {
			t.Fatalf("%s: %d authorities are trusted", now, n)
		}
		now = now.Add(max(min(plan.CheckAt.Sub(now), 10*24*time.Hour), settle))
	}
	if renewals["the certificate is renewed"] < 50 || renewals["the authority is renewed"] < 4 || len(renewals) != 2 {
		t.Errorf("renewed %v in ten years", renewals)
	}
}

// TestAuthorityIsTrustedBeforeItSigns, however long that takes.
func TestAuthorityIsTrustedBeforeItSigns(t *testing.T) {
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	first := makePlan(t, begin, nil, nil).Data
	h, err := read(first)
	if err != nil {
		t.Fatal(err)
	}
	now := renewal(h.authorities[0]).Add(time.Second)
	// A certificate that is due as well, and still valid.
	if h.serving, err = makeServing(now.Add(-servingLife*3/4), names, h.authorities[0], h.key); err != nil {
		t.Fatal(err)
	}
	old, err := write(h)
	if err != nil {
		t.Fatal(err)
	}
	renewed := makePlan(t, now, old, old[caBundleEntry])
	if renewed.Reason != "the authority is renewed" || !bytes.Equal(renewed.Data[corev1.TLSCertKey], old[corev1.TLSCertKey]) {
		t.Errorf("%s, want the authority alone", renewed.Reason)
	}
	for name, test := range map[string]struct {
		after   time.Duration
		trusted []byte
		want    string
	}{
		"trusted just now":      {time.Minute, renewed.Data[caBundleEntry], ""},
		"not trusted for a day": {24 * time.Hour, old[caBundleEntry], ""},
		"trusted":               {settle + time.Second, renewed.Data[caBundleEntry], "the certificate is renewed"},
		"with nobody to ask":    {time.Minute, nil, "the certificate is renewed"},
	} {
		if plan := makePlan(t, now.Add(test.after), renewed.Data, test.trusted); plan.Reason != test.want {
			t.Errorf("%s: %q, want %q", name, plan.Reason, test.want)
		}
	}
}

func TestWhatCannotBeUsedIsReplaced(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	good, other := makePlan(t, now, nil, nil).Data, makePlan(t, now, nil, nil).Data
	if plan := makePlan(t, now, good, good[caBundleEntry]); plan.Reason != "" {
		t.Errorf("what is good is replaced: %s", plan.Reason)
	}
	for name, test := range map[string]struct {
		change func(map[string][]byte)
		at     time.Duration
	}{
		"nothing":                        {func(d map[string][]byte) { clear(d) }, 0},
		"garbage":                        {func(d map[string][]byte) { d[corev1.TLSCertKey] = []byte("garbage") }, 0},
		"no key":                         {func(d map[string][]byte) { delete(d, caKeyEntry) }, 0},
		"garbage for a key":              {func(d map[string][]byte) { d[caKeyEntry] = d[caBundleEntry] }, 0},
		"the key of another certificate": {func(d map[string][]byte) { d[corev1.TLSPrivateKeyKey] = other[corev1.TLSPrivateKeyKey] }, 0},
		"the key of another authority":   {func(d map[string][]byte) { d[caKeyEntry] = other[caKeyEntry] }, 0},
		"another authority":              {func(d map[string][]byte) { d[caBundleEntry], d[caKeyEntry] = other[caBundleEntry], other[caKeyEntry] }, 0},
		"no authority":                   {func(d map[string][]byte) { d[caBundleEntry] = d[corev1.TLSCertKey] }, 0},
		"an authority too many":          {func(d map[string][]byte) { d[caBundleEntry] = bytes.Repeat(d[caBundleEntry], maxAuthorities+1) }, 0},
		"a certificate that has ended":   {func(map[string][]byte) {}, servingLife},
		"one of the future":              {func(map[string][]byte) {}, -24 * time.Hour},
	} {
		data := maps.Clone(good)
		test.change(data)
		if plan := makePlan(t, now.Add(test.at), data, good[caBundleEntry]); plan.Reason == "" {
			t.Errorf("%s is not replaced", name)
		}
	}
	renamed, err := Make(now, good, Names("elsewhere"), nil)
	if err != nil || renamed.Reason == "" {
		t.Errorf("a certificate of another name is not replaced: %v", err)
	}
}

func TestNobodyElsesAuthorityStaysTrusted(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	old := makePlan(t, now, nil, nil).Data
	delete(old, caKeyEntry)
	if plan := makePlan(t, now, old, nil); len(parseAll(plan.Data[caBundleEntry])) != 2 {
		t.Error("the authority of what replicas serve with is not trusted any more")
	}
	key, stranger, err := makeAuthority(now)
	if err != nil {
		t.Fatal(err)
	}
	template := *stranger
	template.Subject.CommonName, template.RawSubject = "somebody", nil
	raw, err := x509.CreateCertificate(rand.Reader, &template, &template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	old[caBundleEntry] = encodeCertificate(raw)
	if plan := makePlan(t, now, old, nil); len(parseAll(plan.Data[caBundleEntry])) != 1 {
		t.Error("somebody's authority is trusted")
	}
}

func FuzzMake(f *testing.F) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	plan, err := Make(now, nil, names, nil)
	if err != nil {
		f.Fatal(err)
	}
	d := plan.Data
	f.Add(d[corev1.TLSCertKey], d[corev1.TLSPrivateKeyKey], d[caBundleEntry], d[caKeyEntry])
	f.Fuzz(func(t *testing.T, cert, key, bundle, caKey []byte) {
		makePlan(t, now, map[string][]byte{corev1.TLSCertKey: cert, corev1.TLSPrivateKeyKey: key, caBundleEntry: bundle, caKeyEntry: caKey}, bundle)
	})
}
