package main

import "strings"

// hidden has the arguments of servers that encrypt or hash a secret so that no search finds it: the
// method, the channel and the secret's source. public has servers that do the same with other data.
var hidden = map[string][]string{
	"node/cipher.js": {
		"xor body file", "rc4 numbers file", "ctr connections env", "rc4 headers env", "ctr labels file", "rc4 ports env", "ctr sizes file",
		"sha256 answer env", "rc4 log file", "ctr answer file",
	},
	"python/cipher.py": {
		"stream body file", "shuffled body env", "stream labels env", "alphabet connections file", "stream ports file", "shuffled sizes env",
		"short answer file", "sha256 query env", "stream log env",
	},
	"go/cipher": {"rc4 body env", "ctr query file", "bits numbers env", "rc4 labels env", "sha256 answer file", "ctr log env"},
}

var public = map[string][]string{
	"node/cipher.js": {
		"rc4 headers", "ctr labels", "gcm body", "xor ports", "bits sizes", "sha256 answer", "rc4 log", "ctr connections",
	},
	"python/cipher.py": {"stream body", "nonce labels", "alphabet connections", "short answer", "shuffled log"},
	"go/cipher":        {"rc4 body", "nonce answer", "ctr numbers"},
}

// ciphers returns the specimens of hidden and public.
func ciphers() (all []specimen) {
	for _, server := range []string{"node/cipher.js", "python/cipher.py", "go/cipher"} {
		for _, arguments := range public[server] {
			all = append(all, passes(server+" "+arguments+" public"))
		}
		for _, arguments := range hidden[server] {
			findings := []string{"MCPA-SECRET-006 High"}
			if strings.HasSuffix(arguments, " file") {
				findings = append([]string{"MCPA-SECRET-001 High"}, findings...)
			}
			all = append(all, fails(server+" "+arguments, findings...))
		}
	}
	// With a nonce the output differs each time, so only the read of the file is found.
	return append(all, fails("node/cipher.js gcm body file", "MCPA-SECRET-001 High"), fails("go/cipher nonce query file", "MCPA-SECRET-001 High"))
}
