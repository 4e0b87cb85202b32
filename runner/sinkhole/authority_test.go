package sinkhole

import (
	"crypto/x509"
	"slices"
	"testing"
	"time"
)

// TestCertificatesHoldForALaterClock: a server whose clock is set forward, even by years, still trusts who answers it,
// and one that looks at how long a certificate is valid sees what it sees elsewhere.
func TestCertificatesHoldForALaterClock(t *testing.T) {
	authority, err := NewAuthority(nil)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(authority.root)
	for _, days := range []int{0, -300, 496, 9 * 365} {
		seen := time.Now().AddDate(0, 0, days)
		minted, err := authority.certificate("api.example.com", seen)
		if err != nil {
			t.Fatal(err)
		}
		between := x509.NewCertPool()
		for _, der := range minted.Certificate[1:] {
			signer, err := x509.ParseCertificate(der)
			if err != nil {
				t.Fatal(err)
			}
			between.AddCert(signer)
		}
		for _, at := range []time.Time{time.Now(), seen} { // programs that have just started see the true time
			if _, err := minted.Leaf.Verify(x509.VerifyOptions{DNSName: "api.example.com", Roots: roots, Intermediates: between, CurrentTime: at}); err != nil {
				t.Errorf("with a clock %d days ahead, at %v: %v", days, at, err)
			}
		}
		if valid := minted.Leaf.NotAfter.Sub(minted.Leaf.NotBefore); days == 0 && valid > 91*day {
			t.Errorf("valid for %v", valid)
		}
	}
}

// TestIssuers: certificates are signed as those of the real hosts are, so that a server cannot tell by them where it is.
func TestIssuers(t *testing.T) {
	authority, err := NewAuthority(nil)
	if err != nil {
		t.Fatal(err)
	}
	for host, want := range map[string]string{"api.github.com": "Sectigo Limited", "www.google.com": "Google Trust Services", "shop.example.net": "Let's Encrypt", "192.0.2.1": "Let's Encrypt"} {
		minted, err := authority.certificate(host, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		leaf, err := x509.ParseCertificate(minted.Certificate[0])
		if err != nil || !slices.Equal(leaf.Issuer.Organization, []string{want}) || len(leaf.Subject.Organization) > 0 {
			t.Errorf("%s: issued by %v to %v, %v", host, leaf.Issuer, leaf.Subject, err)
		}
	}
}
