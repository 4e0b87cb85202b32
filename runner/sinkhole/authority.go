package sinkhole

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net/netip"
	"strings"
	"sync"
	"time"
)

// Certificates are valid from validBefore before now until validAfter after it: this allows
// for wrong clocks and stays below the 825 days that clients accept.
const validBefore, validAfter = 320 * 24 * time.Hour, 500 * 24 * time.Hour

// maxCertificates bounds the cache of certificates; when it is full it is emptied.
const maxCertificates = 1024

// Authority is the certificate authority of one run. Its key never leaves the
// process; nothing outside the sandbox ever trusts it.
type Authority struct {
	key  *ecdsa.PrivateKey
	root *x509.Certificate
	leaf *ecdsa.PrivateKey

	mu     sync.Mutex
	minted map[string]*tls.Certificate
}

// organization of the certificates; it does not reveal the audit.
const organization = "Marlow"

// NewAuthority makes an authority.
func NewAuthority() (*Authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make the authority's key: %w", err)
	}
	leaf, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make the certificates' key: %w", err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		Subject:      pkix.Name{CommonName: organization + " Root CA", Organization: []string{organization}},
		NotBefore:    time.Now().Add(-validBefore), NotAfter: time.Now().Add(validAfter),
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign, BasicConstraintsValid: true, IsCA: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("sign the authority: %w", err)
	}
	root, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("read the authority: %w", err)
	}
	return &Authority{key: key, root: root, leaf: leaf, minted: map[string]*tls.Certificate{}}, nil
}

// PEM returns the authority's certificate.
func (a *Authority) PEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.root.Raw})
}

// certificate returns the certificate of a host name or address.
func (a *Authority) certificate(host string) (*tls.Certificate, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if c := a.minted[host]; c != nil {
		return c, nil
	}
	c, err := a.mint(host)
	if err != nil {
		return nil, err
	}
	if len(a.minted) >= maxCertificates {
		clear(a.minted)
	}
	a.minted[host] = c
	return c, nil
}

func (a *Authority) mint(host string) (*tls.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, fmt.Errorf("make a serial number: %w", err)
	}
	template := &x509.Certificate{
		SerialNumber: serial.Add(serial, big.NewInt(2)), Subject: pkix.Name{Organization: []string{organization}},
		NotBefore: a.root.NotBefore, NotAfter: a.root.NotAfter,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	if address, err := netip.ParseAddr(host); err == nil {
		template.IPAddresses = append(template.IPAddresses, address.AsSlice())
	} else {
		template.DNSNames = []string{host}
	}
	if len(host) <= 64 { // the longest common name (RFC 5280, ub-common-name)
		template.Subject.CommonName = host
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.root, a.leaf.Public(), a.key)
	if err != nil {
		return nil, fmt.Errorf("sign a certificate for %q: %w", host, err)
	}
	return &tls.Certificate{Certificate: [][]byte{der, a.root.Raw}, PrivateKey: a.leaf}, nil
}

var errName = errors.New("not a host name")

// hostOf returns the host to certify: the requested name, or else the destination address.
func hostOf(name string, destination netip.Addr) (string, error) {
	if name == "" {
		return destination.String(), nil
	}
	if len(name) > maxHost || strings.ContainsFunc(name, func(r rune) bool {
		return r != '-' && r != '.' && r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}) {
		return "", errName
	}
	return strings.ToLower(name), nil
}
