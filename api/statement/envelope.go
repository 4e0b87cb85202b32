package statement

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
)

// The bounds of an envelope, which anybody may have written.
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

// Signature is a signature of an envelope. KeyID is a hint that Verify ignores and Sign
// leaves out: some libraries skip a signature whose hint has not the form they expect.
type Signature struct {
	KeyID string `json:"keyid,omitempty"`
	Sig   string `json:"sig"` // base64
}

// PAE returns DSSE's pre-authentication encoding, which is what is signed. Its lengths keep
// the type and the payload apart.
func PAE(payloadType string, payload []byte) []byte {
	return fmt.Appendf(nil, "DSSEv1 %d %s %d %s", len(payloadType), payloadType, len(payload), payload)
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
	ErrBadSignature = errors.New("no signature of the envelope is by this key: it was signed with another key, or the payload was changed")
)

// Decode parses an envelope. Verify has to check it before anything in it is trusted.
func Decode(encoded []byte) (Envelope, error) {
	if len(encoded) > MaxEnvelopeBytes {
		return Envelope{}, fmt.Errorf("decode envelope: %d bytes, more than the %d allowed", len(encoded), MaxEnvelopeBytes)
	}
	if len(bytes.TrimSpace(encoded)) == 0 {
		return Envelope{}, errors.New("decode envelope: empty input; give a DSSE envelope as printed by mcpaudit attest --key")
	}
	var e Envelope
	if err := json.Unmarshal(encoded, &e); err != nil {
		return Envelope{}, fmt.Errorf("decode envelope: %w", err)
	}
	switch {
	case e.PayloadType == "" && e.Payload == "" && len(e.Signatures) == 0:
		return Envelope{}, errors.New("decode envelope: not a DSSE envelope; give one as printed by mcpaudit attest --key")
	case e.PayloadType != PayloadType:
		return Envelope{}, fmt.Errorf("decode envelope: payloadType is %q, want %s", e.PayloadType, PayloadType)
	case len(e.Signatures) > maxSignatures:
		return Envelope{}, fmt.Errorf("decode envelope: %d signatures, more than the %d allowed", len(e.Signatures), maxSignatures)
	}
	return e, nil
}

// Verify returns the statement of an envelope that was signed with the key. It checks the
// signature before it parses the payload.
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
	if err := json.Unmarshal(payload, &s); err != nil {
		return Statement{}, fmt.Errorf("decode statement: %w", err)
	}
	if err := s.check(); err != nil {
		return Statement{}, fmt.Errorf("the statement is signed but invalid: %w", err)
	}
	return s, nil
}

// decode64 accepts the standard and the URL-safe alphabet, as DSSE requires.
func decode64(text string) ([]byte, error) {
	if decoded, err := base64.StdEncoding.DecodeString(text); err == nil {
		return decoded, nil
	}
	return base64.URLEncoding.DecodeString(text)
}
