package statement

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"sync"

	"github.com/secure-systems-lab/go-securesystemslib/encrypted"
)

// The bounds of a key file and of the scrypt cost that an encrypted key may ask for. The
// cost is N * r, and scrypt takes 128 bytes of memory for each unit: cosign uses N 2^16
// and r 8, which take 64 MiB.
const (
	maxKeyBytes    = 16 << 10
	maxScryptCost  = 1 << 19
	maxScryptTimes = 8
)

// PrivateKey signs as cosign does: with ECDSA P-256 and SHA-256, or with Ed25519.
type PrivateKey struct{ signer crypto.Signer }

// PublicKey verifies signatures of a PrivateKey.
type PublicKey struct{ key crypto.PublicKey }

// ErrPassword says that an encrypted key cannot be decrypted with the given password.
var ErrPassword = errors.New("the key is encrypted, and the password is wrong or missing")

const kinds = "want ECDSA P-256 or Ed25519, as PKCS#8 or SEC 1 in PEM, or as cosign generate-key-pair makes it"

// ReadPrivateKey reads a private key in PEM. The password is for a key that cosign encrypted.
func ReadPrivateKey(encoded, password []byte) (*PrivateKey, error) {
	block, err := readPEM(encoded)
	if err != nil {
		return nil, err
	}
	var key any
	switch block.Type {
	case "PRIVATE KEY":
		key, err = x509.ParsePKCS8PrivateKey(block.Bytes)
	case "EC PRIVATE KEY":
		key, err = x509.ParseECPrivateKey(block.Bytes)
	case "ENCRYPTED SIGSTORE PRIVATE KEY", "ENCRYPTED COSIGN PRIVATE KEY":
		var plain []byte
		if plain, err = decrypt(block.Bytes, password); err != nil {
			return nil, err
		}
		key, err = x509.ParsePKCS8PrivateKey(plain)
	default:
		return nil, fmt.Errorf("read private key: unsupported PEM type %q: %s", block.Type, kinds)
	}
	if err != nil {
		return nil, fmt.Errorf("read private key: %w: %s", err, kinds)
	}
	signer, ok := key.(crypto.Signer)
	if !ok {
		return nil, fmt.Errorf("read private key: %T: %s", key, kinds)
	}
	if err := checkKind(signer.Public()); err != nil {
		return nil, fmt.Errorf("read private key: %w", err)
	}
	return &PrivateKey{signer}, nil
}

// open is replaced by tests.
var open = encrypted.Decrypt

// decrypting allows one decryption at a time: each may take the memory of maxScryptCost,
// and all workers of the manager read the key, one audit each.
var decrypting sync.Mutex

// decrypt decrypts a cosign key: JSON with the parameters of scrypt and NaCl's secretbox.
func decrypt(box, password []byte) ([]byte, error) {
	var asked struct {
		KDF struct {
			Params struct{ N, R, P int }
		}
	}
	if err := json.Unmarshal(box, &asked); err != nil {
		return nil, fmt.Errorf("read private key: %w: %s", err, kinds)
	}
	if p := asked.KDF.Params; p.N < 1 || p.R < 1 || p.P < 1 || p.N > maxScryptCost/p.R || p.P > maxScryptTimes {
		return nil, fmt.Errorf("read private key: scrypt with N %d, r %d, p %d costs too much", p.N, p.R, p.P)
	}
	decrypting.Lock()
	defer decrypting.Unlock()
	plain, err := open(box, password)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPassword, err)
	}
	return plain, nil
}

// ReadPublicKey reads a key in PEM (SubjectPublicKeyInfo), such as cosign.pub.
func ReadPublicKey(encoded []byte) (*PublicKey, error) {
	block, err := readPEM(encoded)
	if err != nil {
		return nil, err
	}
	if block.Type != "PUBLIC KEY" {
		return nil, fmt.Errorf("read public key: PEM of type %q, want PUBLIC KEY", block.Type)
	}
	key, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("read public key: %w", err)
	}
	if err := checkKind(key); err != nil {
		return nil, fmt.Errorf("read public key: %w", err)
	}
	return &PublicKey{key}, nil
}

func readPEM(encoded []byte) (*pem.Block, error) {
	if len(encoded) > maxKeyBytes {
		return nil, fmt.Errorf("read key: %d bytes, more than the %d allowed", len(encoded), maxKeyBytes)
	}
	block, _ := pem.Decode(encoded)
	if block == nil {
		return nil, errors.New("read key: not PEM")
	}
	return block, nil
}

// checkKind accepts ECDSA P-256 and Ed25519.
func checkKind(key crypto.PublicKey) error {
	curve, isECDSA := key.(*ecdsa.PublicKey)
	if _, ok := key.(ed25519.PublicKey); ok || isECDSA && curve.Curve == elliptic.P256() {
		return nil
	}
	return fmt.Errorf("%T: %s", key, kinds)
}

// Public returns the key that verifies the signatures of k.
func (k *PrivateKey) Public() *PublicKey { return &PublicKey{k.signer.Public()} }

func (k *PrivateKey) sign(message []byte) ([]byte, error) {
	if _, ok := k.signer.(ed25519.PrivateKey); ok {
		return k.signer.Sign(rand.Reader, message, crypto.Hash(0))
	}
	sum := sha256.Sum256(message)
	return k.signer.Sign(rand.Reader, sum[:], crypto.SHA256)
}

func (k *PublicKey) verify(message, signature []byte) bool {
	switch key := k.key.(type) {
	case ed25519.PublicKey:
		return ed25519.Verify(key, message, signature)
	case *ecdsa.PublicKey:
		sum := sha256.Sum256(message)
		return ecdsa.VerifyASN1(key, sum[:], signature)
	}
	return false
}
