package decoy

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// hexadecimal matches a possible digest or its beginning.
var hexadecimal = lazyregexp.New(`[0-9a-f]{8,128}`)

// Undigested returns a function that replaces the digests of the set's secrets in a name, whole or only their beginnings,
// by which secret, algorithm and length they have. Caches are named by digests. A digest of a random word says nothing;
// the choice of the digest could.
func (s Set) Undigested() func(name string) string {
	var digests []string
	add := func(secrets ...string) {
		for _, secret := range secrets {
			text := []byte(secret)
			a, b, c, d := md5.Sum(text), sha1.Sum(text), sha256.Sum256(text), sha512.Sum512(text)
			digests = append(digests, hex.EncodeToString(a[:]), hex.EncodeToString(b[:]), hex.EncodeToString(c[:]), hex.EncodeToString(d[:]))
		}
	}
	for _, v := range s.Vars {
		add(append([]string{v.Value}, v.Secrets...)...)
	}
	for _, f := range s.Files {
		add(append([]string{string(f.Content)}, f.Secrets...)...)
	}
	return func(name string) string {
		return hexadecimal.ReplaceAllStringFunc(name, func(found string) string {
			for i, digest := range digests {
				if strings.HasPrefix(digest, found) {
					return fmt.Sprintf("<digest %d, %d>", i, len(found))
				}
			}
			return found
		})
	}
}
