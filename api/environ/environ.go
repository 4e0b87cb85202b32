// Package environ knows what environment variables do to a server, and how the
// environment of an audit is compared with that of a workload. The runner, the manager
// and the gate share it.
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

// Digest is an HMAC-SHA256 over the names and values of an environment, as "sha256:" and
// 64 hex digits. It is keyed so that nobody who reads it can try values against it.
func Digest(key []byte, env map[string]string) string {
	var canonical bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(env)) {
		// Base64 keeps every byte, also those that are not UTF-8, and none of it is a separator.
		canonical.WriteString(base64.RawURLEncoding.EncodeToString([]byte(name)))
		canonical.WriteByte('=')
		canonical.WriteString(base64.RawURLEncoding.EncodeToString([]byte(env[name])))
		canonical.WriteByte('\n')
	}
	mac := hmac.New(sha256.New, key)
	mac.Write(canonical.Bytes())
	return "sha256:" + hex.EncodeToString(mac.Sum(nil))
}
