package v1alpha1

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

// CommandDigest returns a SHA-256 over a container's command and args: the number of words
// of each list, and each word with its length. An empty list is the same as an absent one,
// as it is to a kubelet.
func CommandDigest(command, args []string) Digest {
	hash := sha256.New()
	number := func(n int) { hash.Write(binary.BigEndian.AppendUint64(nil, uint64(n))) }
	for _, words := range [][]string{command, args} {
		number(len(words))
		for _, word := range words {
			number(len(word))
			hash.Write([]byte(word))
		}
	}
	return Digest("sha256:" + hex.EncodeToString(hash.Sum(nil)))
}
