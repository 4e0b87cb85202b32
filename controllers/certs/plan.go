// Package certs keeps the certificate that the gate serves with. It is made and renewed
// in a Secret, and its CA is set in the webhook configuration; every replica serves from the
// Secret and reloads it without a restart. Pure functions decide its content (plan.go, issue.go).
package certs

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// The keys of the Secret, besides those of type kubernetes.io/tls. caKeyEntry belongs to the
// first authority in caBundleEntry, which has all that the API server should trust.
const (
	caKeyEntry    = "ca.key"
	caBundleEntry = corev1.ServiceAccountRootCAKey // ca.crt
)

// Validity periods, which start an hour early to allow for clock skew. Certificates are renewed
// after two thirds.
const (
	servingLife   = 90 * 24 * time.Hour
	authorityLife = 3 * 365 * 24 * time.Hour
	early         = time.Hour
)

// settle is the time between trusting an authority and its first certificate, so every API server
// has loaded it.
const settle = 10 * time.Minute

// Plan is the desired state of the Secret.
type Plan struct {
	// Data is the whole content; Reason says why it changed, and is empty if it did not.
	Data   map[string][]byte
	Reason string
	// CheckAt is when to plan again at the latest.
	CheckAt time.Time
}

// held is the content of a Secret.
type held struct {
	serving     tls.Certificate
	authorities []*x509.Certificate // newest first
	key         *ecdsa.PrivateKey   // of the first
}

// Make decides the content of the Secret. trusted is the webhook's CA bundle; nil if there is none.
//
// There is no moment in which the API server rejects the certificate: it is renewed by an
// authority that is already trusted. A new authority is trusted beside the previous one, until
// that expires, before it signs a certificate.
func Make(now time.Time, data map[string][]byte, names []string, trusted []byte) (Plan, error) {
	h, err := read(data)
	if err == nil {
		err = h.check(now, names)
	}
	if err != nil {
		return anew(now, data, names, fmt.Sprintf("what was there cannot be used: %s", err))
	}
	h.authorities = slices.DeleteFunc(h.authorities, func(c *x509.Certificate) bool { return !now.Before(c.NotAfter) })
	reason := ""
	newest := h.authorities[0]
	if !now.Before(renewal(newest)) {
		if h.key, newest, err = makeAuthority(now); err != nil {
			return Plan{}, err
		}
		h.authorities = slices.Insert(h.authorities, 0, newest)
		reason = "the authority is renewed"
	}
	if !now.Before(renewal(h.serving.Leaf)) && settled(now, newest, h.serving.Leaf, trusted) {
		if h.serving, err = makeServing(now, names, newest, h.key); err != nil {
			return Plan{}, err
		}
		reason = "the certificate is renewed"
	}
	plan := Plan{Data: data, Reason: reason, CheckAt: next(now, h)}
	if reason != "" {
		plan.Data, err = write(h)
	}
	return plan, err
}

// anew replaces everything. Previous authorities stay trusted for a while: replicas may serve
// their certificates until they see the new Secret.
func anew(now time.Time, data map[string][]byte, names []string, reason string) (Plan, error) {
	if len(data) == 0 {
		reason = "there was none"
	}
	h := held{}
	for _, c := range parseAll(data[caBundleEntry]) {
		if c.IsCA && c.Subject.CommonName == authorityName && now.Before(c.NotAfter) && len(h.authorities) < maxAuthorities-1 {
			h.authorities = append(h.authorities, c)
		}
	}
	key, authority, err := makeAuthority(now)
	if err != nil {
		return Plan{}, err
	}
	h.key, h.authorities = key, slices.Insert(h.authorities, 0, authority)
	if h.serving, err = makeServing(now, names, authority, key); err != nil {
		return Plan{}, err
	}
	plan := Plan{Reason: reason, CheckAt: next(now, h)}
	plan.Data, err = write(h)
	return plan, err
}

// maxAuthorities bounds the authorities trusted at a time.
const maxAuthorities = 4

// settled reports whether an authority may sign. The signer of the current certificate is
// trusted if any is.
func settled(now time.Time, authority, serving *x509.Certificate, trusted []byte) bool {
	if serving.CheckSignatureFrom(authority) == nil || trusted == nil {
		return true
	}
	if now.Before(authority.NotBefore.Add(early + settle)) {
		return false
	}
	return slices.ContainsFunc(parseAll(trusted), authority.Equal)
}

// renewal returns when two thirds of a certificate's life are over.
func renewal(c *x509.Certificate) time.Time {
	return c.NotBefore.Add(c.NotAfter.Sub(c.NotBefore) / 3 * 2)
}

// next returns when the next step is due. Steps already due wait for something else.
func next(now time.Time, h held) time.Time {
	due := renewal(h.authorities[0])
	if at := renewal(h.serving.Leaf); at.Before(due) {
		due = at
	}
	if due.Before(now.Add(settle)) {
		due = now.Add(settle)
	}
	return due
}

func read(data map[string][]byte) (held, error) {
	var h held
	var err error
	if h.serving, err = tls.X509KeyPair(data[corev1.TLSCertKey], data[corev1.TLSPrivateKeyKey]); err != nil {
		return h, fmt.Errorf("read certificate: %w", err)
	}
	if h.authorities = parseAll(data[caBundleEntry]); len(h.authorities) == 0 || len(h.authorities) > maxAuthorities {
		return h, fmt.Errorf("%s has %d certificates", caBundleEntry, len(h.authorities))
	}
	block, _ := pem.Decode(data[caKeyEntry])
	if block == nil {
		return h, fmt.Errorf("%s has no key", caKeyEntry)
	}
	if h.key, err = x509.ParseECPrivateKey(block.Bytes); err != nil {
		return h, fmt.Errorf("read %s: %w", caKeyEntry, err)
	}
	return h, nil
}

// check returns problems that waiting does not solve.
func (h held) check(now time.Time, names []string) error {
	newest := h.authorities[0]
	for _, c := range h.authorities {
		if !c.IsCA {
			return fmt.Errorf("%s has a certificate of no authority", caBundleEntry)
		}
	}
	if public, ok := newest.PublicKey.(*ecdsa.PublicKey); !ok || !public.Equal(&h.key.PublicKey) {
		return fmt.Errorf("%s is not the key of the first certificate of %s", caKeyEntry, caBundleEntry)
	}
	if now.Before(newest.NotBefore) || !now.Before(newest.NotAfter) {
		return errors.New("the authority is not valid now")
	}
	return verify(now, h.serving.Leaf, h.authorities, names)
}

// verify checks a certificate as the API server does.
func verify(now time.Time, leaf *x509.Certificate, authorities []*x509.Certificate, names []string) error {
	roots := x509.NewCertPool()
	for _, c := range authorities {
		roots.AddCert(c)
	}
	for _, name := range names {
		if _, err := leaf.Verify(x509.VerifyOptions{DNSName: name, Roots: roots, CurrentTime: now}); err != nil {
			return fmt.Errorf("verify certificate: %w", err)
		}
	}
	return nil
}

// parseAll parses the certificates of a bundle and skips anything else.
func parseAll(bundle []byte) []*x509.Certificate {
	var all []*x509.Certificate
	for {
		var block *pem.Block
		if block, bundle = pem.Decode(bundle); block == nil {
			return all
		}
		if c, err := x509.ParseCertificate(block.Bytes); block.Type == pemCertificate && err == nil {
			all = append(all, c)
		}
	}
}

func write(h held) (map[string][]byte, error) {
	private, ok := h.serving.PrivateKey.(*ecdsa.PrivateKey)
	if !ok {
		return nil, errors.New("write certificate: the key is of another kind")
	}
	serving, err := encodeKey(private)
	if err != nil {
		return nil, err
	}
	authority, err := encodeKey(h.key)
	if err != nil {
		return nil, err
	}
	var bundle bytes.Buffer
	for _, c := range h.authorities {
		bundle.Write(encodeCertificate(c.Raw))
	}
	return map[string][]byte{
		corev1.TLSCertKey: encodeCertificate(h.serving.Certificate[0]), corev1.TLSPrivateKeyKey: serving,
		caBundleEntry: bundle.Bytes(), caKeyEntry: authority,
	}, nil
}
