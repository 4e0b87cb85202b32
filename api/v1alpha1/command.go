package v1alpha1

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

// CommandDigest is over the command and the args of a container: SHA-256 over the
// number of words of each, and the words with their lengths. Absent and empty lists
// are the same, as they are to a kubelet.
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
