package sinkhole

import (
	"crypto/x509"
	"slices"
	"testing"
	"time"
)

// TestCertificatesHoldForALaterClock: a server whose clock is set forward still
// trusts who answers it.
func TestCertificatesHoldForALaterClock(t *testing.T) {
	authority, err := NewAuthority(nil)
	if err != nil {
		t.Fatal(err)
	}
	minted, err := authority.certificate("api.example.com")
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(minted.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	roots, between := x509.NewCertPool(), x509.NewCertPool()
	roots.AddCert(authority.root)
	for _, der := range minted.Certificate[1:] {
		signer, err := x509.ParseCertificate(der)
		if err != nil {
			t.Fatal(err)
		}
		between.AddCert(signer)
	}
	for _, days := range []int{-300, 0, 496} { // as far ahead as the launch at a later date
		_, err := leaf.Verify(x509.VerifyOptions{DNSName: "api.example.com", Roots: roots, Intermediates: between, CurrentTime: time.Now().AddDate(0, 0, days)})
		if err != nil {
			t.Errorf("in %d days: %v", days, err)
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
		minted, err := authority.certificate(host)
		if err != nil {
			t.Fatal(err)
		}
		leaf, err := x509.ParseCertificate(minted.Certificate[0])
		if err != nil || !slices.Equal(leaf.Issuer.Organization, []string{want}) || len(leaf.Subject.Organization) > 0 {
			t.Errorf("%s: issued by %v to %v, %v", host, leaf.Issuer, leaf.Subject, err)
		}
	}
}
