package decoy

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/binary"
	"encoding/pem"
	"strings"
)

// rsaKey makes a real key in the format of ssh-keygen -m PEM. (2048 bits take some
// 50 ms to make; ssh would not accept fewer.)
//
// Its body is random except for some ASN.1 headers, of which the first and longest
// comes before the modulus: version 0, and the lengths (RFC 8017, A.1.2).
func rsaKey() (string, []string, error) {
	const modulus = 12 // bytes of DER before it
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return "", nil, err
	}
	der := x509.MarshalPKCS1PrivateKey(key)
	content, secrets := armour("RSA PRIVATE KEY", der, modulus, len(der))
	return content, secrets, nil
}

// ed25519Key makes a real key in OpenSSH's own format (PROTOCOL.key of OpenSSH).
// Much of it is the same in every key, and it has the public half twice: only the
// private key is the secret.
func ed25519Key() (string, []string, error) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return "", nil, err
	}
	const algorithm = "ssh-ed25519"
	check := make([]byte, 4)
	if _, err := rand.Read(check); err != nil {
		return "", nil, err
	}
	secret := join(check, check, sshStrings([]byte(algorithm), public, private, []byte("deploy@build")))
	for pad := byte(1); len(secret)%8 != 0; pad++ {
		secret = append(secret, pad)
	}
	blob := join([]byte("openssh-key-v1\x00"), sshStrings([]byte("none"), []byte("none"), nil),
		binary.BigEndian.AppendUint32(nil, 1), sshStrings(sshStrings([]byte(algorithm), public), secret))
	from := bytes.Index(blob, private)
	content, secrets := armour("OPENSSH PRIVATE KEY", blob, from, from+len(private))
	return content, secrets, nil
}

// armour writes a PEM block. Its secrets are the characters that depend only on
// the bytes of der between two offsets, line by line: a stolen part of the key
// contains some line of it.
func armour(label string, der []byte, from, to int) (string, []string) {
	content := string(pem.EncodeToMemory(&pem.Block{Type: label, Bytes: der}))
	body := base64.StdEncoding.EncodeToString(der)
	const width = 64 // of a line of PEM (RFC 7468, 2)
	var secrets []string
	for start, end := (from*8+5)/6, to*8/6; start < end; {
		next := min((start/width+1)*width, end)
		if next-start >= minSecret {
			secrets = append(secrets, body[start:next])
		}
		start = next
	}
	return content, secrets
}

// dockerConfig stores the password as docker does: base64 of "user:password".
// Either form is the secret.
func dockerConfig() (string, []string, error) {
	const user = "deploy:"
	password := random(alphabets["a"], 35)
	auth := base64.StdEncoding.EncodeToString([]byte(user + password))
	return `{"auths":{"registry.example.com":{"auth":"` + auth + `"}}}` + "\n",
		[]string{strings.TrimRight(auth, "=")[(len(user)*8+5)/6:], password}, nil
}

// serviceAccountToken makes a JSON web token (RFC 7519) like those of Kubernetes'
// API server, with an invalid signature.
func serviceAccountToken() (string, []string) {
	const header = `{"alg":"RS256","kid":"`
	const claims = `{"aud":["https://kubernetes.default.svc.cluster.local"],"iss":"https://kubernetes.default.svc.cluster.local",` +
		`"kubernetes.io":{"namespace":"default","serviceaccount":{"name":"default"}},"sub":"system:serviceaccount:default:default"}`
	encode := base64.RawURLEncoding.EncodeToString
	signature := random(alphabets["b"], 342) // 2048 bits
	return encode([]byte(header+random(alphabets["b"], 43)+`"}`)) + "." + encode([]byte(claims)) + "." + signature, []string{signature}
}

// sshStrings encodes each value as a string of RFC 4251: length, bytes.
func sshStrings(values ...[]byte) []byte {
	var b []byte
	for _, v := range values {
		b = binary.BigEndian.AppendUint32(b, uint32(len(v)))
		b = append(b, v...)
	}
	return b
}

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
