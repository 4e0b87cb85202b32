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

	"github.com/mcpaudit/mcpaudit/runner/pseudonym"
)

// The authority's certificates are valid from founded before now until expires after it, and those of hosts from
// issued before what the server's clock shows until renewed after it, as those of public hosts are.
const (
	day              = 24 * time.Hour
	founded, expires = 9 * 365 * day, 16 * 365 * day
	issued, renewed  = 31 * day, 59 * day
)

// maxCertificates bounds the cache of certificates; when it is full it is emptied.
const maxCertificates = 1024

// Authority is the certificate authority of one run. Its key never leaves the
// process; nothing outside the sandbox ever trusts it.
type Authority struct {
	key, middle, leaf *ecdsa.PrivateKey
	root              *x509.Certificate

	mu      sync.Mutex
	minted  map[string]*tls.Certificate
	issuing map[string]*x509.Certificate // by organization
}

// issuers has who signs the certificates of well-known services (organization and common name), because a program
// that hides from an audit looks at that.
var issuers = map[string][2]string{
	"github.com": {"Sectigo Limited", "Sectigo ECC Domain Validation Secure Server CA"},
	"google.com": {"Google Trust Services", "WR2"}, "googleapis.com": {"Google Trust Services", "WR2"},
	"youtube.com": {"Google Trust Services", "WR2"}, "openai.com": {"Google Trust Services", "WR2"},
	"anthropic.com": {"Google Trust Services", "WR2"}, "cloudflare.com": {"Google Trust Services", "WR2"}, "npmjs.org": {"Google Trust Services", "WR2"},
	"amazon.com": {"Amazon", "Amazon RSA 2048 M02"}, "amazonaws.com": {"Amazon", "Amazon RSA 2048 M02"}, "cloudfront.net": {"Amazon", "Amazon RSA 2048 M02"},
	"microsoft.com": {"Microsoft Corporation", "Microsoft Azure RSA TLS Issuing CA 07"}, "azure.com": {"Microsoft Corporation", "Microsoft Azure RSA TLS Issuing CA 07"},
	"slack.com": {"DigiCert Inc", "DigiCert TLS RSA SHA256 2020 CA1"}, "atlassian.net": {"DigiCert Inc", "DigiCert TLS RSA SHA256 2020 CA1"},
	"pypi.org": {"GlobalSign nv-sa", "GlobalSign Atlas R3 DV TLS CA 2025 Q3"},
}

// anyIssuer signs the certificates of the other hosts.
var anyIssuer = [2]string{"Let's Encrypt", "R11"}

// issuerOf returns who signs the certificate of a host.
func issuerOf(host string) [2]string {
	for rest := host; rest != ""; _, rest, _ = strings.Cut(rest, ".") {
		if issuer, known := issuers[rest]; known {
			return issuer
		}
	}
	return anyIssuer
}

// NewAuthority makes an authority, which is called as its file is.
func NewAuthority(names *pseudonym.Names) (*Authority, error) {
	name := strings.TrimSuffix(names.Out(AuthorityName), "-ca.crt")
	organization := strings.ToUpper(name[:1]) + name[1:]
	var keys [3]*ecdsa.PrivateKey
	for i := range keys {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			return nil, fmt.Errorf("make the authority's keys: %w", err)
		}
		keys[i] = key
	}
	key := keys[0]
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		Subject:      pkix.Name{CommonName: organization + " Root CA", Organization: []string{organization}},
		NotBefore:    time.Now().Add(-founded), NotAfter: time.Now().Add(expires),
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
	return &Authority{key: key, middle: keys[1], leaf: keys[2], root: root,
		minted: map[string]*tls.Certificate{}, issuing: map[string]*x509.Certificate{}}, nil
}

// PEM returns the authority's certificate.
func (a *Authority) PEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.root.Raw})
}

// certificate returns the certificate of a host name or address that is valid now and at the time that the server
// sees, because programs that have just started see the true time.
func (a *Authority) certificate(host string, seen time.Time) (*tls.Certificate, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if c := a.minted[host]; c != nil && seen.After(c.Leaf.NotBefore) && seen.Before(c.Leaf.NotAfter) {
		return c, nil
	}
	c, err := a.mint(host, seen)
	if err != nil {
		return nil, err
	}
	if len(a.minted) >= maxCertificates {
		clear(a.minted)
	}
	a.minted[host] = c
	return c, nil
}

// issuer returns the certificate of who signs the certificate of a host.
func (a *Authority) issuer(host string) (*x509.Certificate, error) {
	name := issuerOf(host)
	if known := a.issuing[name[0]]; known != nil {
		return known, nil
	}
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: big.NewInt(int64(len(a.issuing)) + 2), Subject: pkix.Name{Organization: name[:1], CommonName: name[1]},
		NotBefore: a.root.NotBefore, NotAfter: a.root.NotAfter,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature, BasicConstraintsValid: true, IsCA: true, MaxPathLenZero: true,
	}, a.root, a.middle.Public(), a.key)
	if err != nil {
		return nil, fmt.Errorf("sign %s: %w", name[0], err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name[0], err)
	}
	a.issuing[name[0]] = certificate
	return certificate, nil
}

func (a *Authority) mint(host string, seen time.Time) (*tls.Certificate, error) {
	issuer, err := a.issuer(host)
	if err != nil {
		return nil, err
	}
	from, to := time.Now(), seen
	if to.Before(from) {
		from, to = to, from
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, fmt.Errorf("make a serial number: %w", err)
	}
	template := &x509.Certificate{
		SerialNumber: serial.Add(serial, big.NewInt(2)),
		NotBefore:    from.Add(-issued), NotAfter: to.Add(renewed),
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
	der, err := x509.CreateCertificate(rand.Reader, template, issuer, a.leaf.Public(), a.middle)
	if err != nil {
		return nil, fmt.Errorf("sign a certificate for %q: %w", host, err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("read the certificate for %q: %w", host, err)
	}
	return &tls.Certificate{Certificate: [][]byte{der, issuer.Raw}, PrivateKey: a.leaf, Leaf: leaf}, nil
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
