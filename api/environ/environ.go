// Package environ determines what environment variables do to a server, and how the
// environments of an audit and a workload are compared. The runner, the manager and the gate
// share it.
package environ

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"maps"
	"slices"
)

// Digest returns an HMAC-SHA256 over the names and values of an environment, as "sha256:" and
// 64 hex digits. It is keyed so readers cannot guess values.
func Digest(key []byte, env map[string]string) string {
	var canonical bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(env)) {
		// Base64 keeps every byte, even if not UTF-8, and contains no separator.
		canonical.WriteString(base64.RawURLEncoding.EncodeToString([]byte(name)))
		canonical.WriteByte('=')
		canonical.WriteString(base64.RawURLEncoding.EncodeToString([]byte(env[name])))
		canonical.WriteByte('\n')
	}
	mac := hmac.New(sha256.New, key)
	mac.Write(canonical.Bytes())
	return "sha256:" + hex.EncodeToString(mac.Sum(nil))
}
