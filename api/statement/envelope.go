package statement

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// The most that is read of an envelope, which anybody may have written.
const (
	MaxEnvelopeBytes = 256 << 10
	maxSignatures    = 16
)

// Envelope is a DSSE envelope.
type Envelope struct {
	PayloadType string      `json:"payloadType"`
	Payload     string      `json:"payload"` // base64
	Signatures  []Signature `json:"signatures"`
}

// Signature is one of an envelope. KeyID is a hint that nothing here is decided by, and
// that Sign leaves out: libraries that expect it in another form pass over a signature
// whose hint is not theirs.
type Signature struct {
	KeyID string `json:"keyid,omitempty"`
	Sig   string `json:"sig"` // base64
}

// PAE is DSSE's pre-authentication encoding: what is signed, so that neither the type
// nor the payload can be taken for the other.
func PAE(payloadType string, payload []byte) []byte {
	var b bytes.Buffer
	b.WriteString("DSSEv1 " + strconv.Itoa(len(payloadType)) + " " + payloadType + " " + strconv.Itoa(len(payload)) + " ")
	b.Write(payload)
	return b.Bytes()
}

// Sign puts a statement into an envelope with one signature.
func (k *PrivateKey) Sign(s Statement) (Envelope, error) {
	payload, err := s.Encode()
	if err != nil {
		return Envelope{}, err
	}
	signature, err := k.sign(PAE(PayloadType, payload))
	if err != nil {
		return Envelope{}, fmt.Errorf("sign statement: %w", err)
	}
	return Envelope{
		PayloadType: PayloadType, Payload: base64.StdEncoding.EncodeToString(payload),
		Signatures: []Signature{{Sig: base64.StdEncoding.EncodeToString(signature)}},
	}, nil
}

// Why an envelope is refused.
var (
	ErrNoSignature  = errors.New("the envelope has no signature")
	ErrBadSignature = errors.New("no signature of the envelope is by this key: it is another key's, or the payload was changed")
)

// Decode reads an envelope. It trusts nothing of it: see Verify.
func Decode(encoded []byte) (Envelope, error) {
	if len(encoded) > MaxEnvelopeBytes {
		return Envelope{}, fmt.Errorf("decode envelope: %d bytes, more than the %d allowed", len(encoded), MaxEnvelopeBytes)
	}
	if len(bytes.TrimSpace(encoded)) == 0 {
		return Envelope{}, errors.New("decode envelope: it is empty: give a DSSE envelope, as mcpaudit attest --key prints it")
	}
	var e Envelope
	decoder := json.NewDecoder(bytes.NewReader(encoded))
	if err := decoder.Decode(&e); err != nil {
		return Envelope{}, fmt.Errorf("decode envelope: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return Envelope{}, errors.New("decode envelope: something follows its end")
	}
	switch {
	case e.PayloadType == "" && e.Payload == "" && len(e.Signatures) == 0:
		return Envelope{}, errors.New("decode envelope: it is none: give a DSSE envelope, as mcpaudit attest --key prints it")
	case e.PayloadType != PayloadType:
		return Envelope{}, fmt.Errorf("decode envelope: payloadType is %q, want %s", e.PayloadType, PayloadType)
	case len(e.Signatures) > maxSignatures:
		return Envelope{}, fmt.Errorf("decode envelope: %d signatures, more than the %d allowed", len(e.Signatures), maxSignatures)
	}
	return e, nil
}

// Verify returns the statement of an envelope that the key has signed. Nothing of the
// payload is looked at before that is known.
func (e Envelope) Verify(key *PublicKey) (Statement, error) {
	if len(e.Signatures) == 0 {
		return Statement{}, ErrNoSignature
	}
	payload, err := decode64(e.Payload)
	if err != nil {
		return Statement{}, fmt.Errorf("decode payload: %w", err)
	}
	signed := PAE(e.PayloadType, payload)
	verified := false
	for _, s := range e.Signatures {
		signature, err := decode64(s.Sig)
		verified = verified || err == nil && key.verify(signed, signature)
	}
	if !verified {
		return Statement{}, ErrBadSignature
	}
	var s Statement
	decoder := json.NewDecoder(bytes.NewReader(payload))
	if err := decoder.Decode(&s); err != nil {
		return Statement{}, fmt.Errorf("decode statement: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return Statement{}, errors.New("decode statement: something follows its end")
	}
	if err := s.check(); err != nil {
		return Statement{}, fmt.Errorf("the statement is signed, and cannot be: %w", err)
	}
	return s, nil
}

// decode64 reads either of the alphabets, as DSSE asks for.
func decode64(text string) ([]byte, error) {
	if decoded, err := base64.StdEncoding.DecodeString(text); err == nil {
		return decoded, nil
	}
	return base64.URLEncoding.DecodeString(text)
}
