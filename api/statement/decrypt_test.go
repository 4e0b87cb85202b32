package statement

import (
	"encoding/pem"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

// TestDecryptsOneAtATime: scrypt asks for 64 MiB for a key of cosign's, and the manager
// has many workers and little memory.
func TestDecryptsOneAtATime(t *testing.T) {
	was := open
	t.Cleanup(func() { open = was })
	var now, most atomic.Int32
	open = func([]byte, []byte) ([]byte, error) {
		here := now.Add(1)
		for most.Load() < here {
			most.Store(here)
		}
		for range 10_000 {
			runtime.Gosched() // so that others come in, if they can
		}
		now.Add(-1)
		return nil, nil
	}
	key := pem.EncodeToMemory(&pem.Block{
		Type: "ENCRYPTED SIGSTORE PRIVATE KEY", Bytes: []byte(`{"kdf": {"name": "scrypt", "params": {"N": 65536, "r": 8, "p": 1}}}`),
	})
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() { _, _ = ReadPrivateKey(key, nil) })
	}
	all.Wait()
	if got := most.Load(); got != 1 {
		t.Errorf("%d keys were decrypted at a time", got)
	}
}
