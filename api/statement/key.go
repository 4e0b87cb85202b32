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

// The largest file of a key that is read, and the largest cost of scrypt that an
// encrypted one may ask for (the memory is 128 * N * r bytes): cosign's own is N 2^16,
// r 8, which are 64 MiB.
const (
	maxKeyBytes    = 16 << 10
	maxScryptCost  = 1 << 19
	maxScryptTimes = 8
)

// PrivateKey signs: ECDSA over P-256 with SHA-256, or Ed25519, as cosign does it.
type PrivateKey struct{ signer crypto.Signer }

// PublicKey verifies.
type PublicKey struct{ key crypto.PublicKey }

// ErrPassword says that the key is encrypted, and not with this password.
var ErrPassword = errors.New("the key is encrypted, and the password is wrong or missing")

const kinds = "want ECDSA P-256 or Ed25519, as PKCS#8 or SEC 1 in PEM, or as cosign generate-key-pair makes it"

// ReadPrivateKey reads a key in PEM; password is for one that cosign has encrypted.
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
		return nil, fmt.Errorf("read private key: PEM of type %q: %s", block.Type, kinds)
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

// open decrypts a box; tests watch it.
var open = encrypted.Decrypt

// decrypting has one key decrypted at a time: each takes the memory of maxScryptCost,
// and the manager reads the key for each audit, with as many workers as it was given.
var decrypting sync.Mutex

// decrypt opens the box of a cosign key: JSON that names scrypt and NaCl's secretbox.
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
		return nil, errors.New("read key: it is no PEM")
	}
	return block, nil
}

// checkKind refuses a key that is neither ECDSA P-256 nor Ed25519.
func checkKind(key crypto.PublicKey) error {
	curve, isECDSA := key.(*ecdsa.PublicKey)
	if _, ok := key.(ed25519.PublicKey); ok || isECDSA && curve.Curve == elliptic.P256() {
		return nil
	}
	return fmt.Errorf("%T: %s", key, kinds)
}

// Public is the key that verifies what this one signs.
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
