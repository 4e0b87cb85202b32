package sinkhole

import (
	"crypto/x509"
	"testing"
	"time"
)

// TestCertificatesHoldForALaterClock: a server whose clock is set forward still
// trusts who answers it.
func TestCertificatesHoldForALaterClock(t *testing.T) {
	authority, err := NewAuthority()
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
	roots := x509.NewCertPool()
	roots.AddCert(authority.root)
	for _, days := range []int{-300, 0, 496} { // as far ahead as the launch at a later date
		_, err := leaf.Verify(x509.VerifyOptions{DNSName: "api.example.com", Roots: roots, CurrentTime: time.Now().AddDate(0, 0, days)})
		if err != nil {
			t.Errorf("in %d days: %v", days, err)
		}
	}
}
