package probe

import "testing"

func FuzzParseMessage(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"result":{}}`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}`,
		`{"jsonrpc":"2.0","method":"ping","id":"a"}`, `{"jsonrpc":"2.0","method":"x"}`, `[]`, `null`, `{"jsonrpc":2}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		m, ok := parseMessage(in)
		if ok && m.isRequest() && m.isResponse() {
			t.Fatalf("%q is a request and a response", in)
		}
		if e := parseRefusal(in); e != nil && len(e.Error()) > 12*maxSample {
			t.Fatalf("error of %d bytes", len(e.Error()))
		}
		if len(sample(in)) > 3*maxSample {
			t.Fatalf("sample of %d bytes", len(sample(in)))
		}
	})
}
