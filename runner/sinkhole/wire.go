package sinkhole

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// maxWire bounds one Capture on the wire, in bytes: the data in base64, and each
// string with every byte escaped.
const maxWire = maxData*4/3 + 6*(maxHost+maxRequest) + 1024

// Send writes captures as lines of JSON until there are no more. After an error it goes
// on receiving them, so that a Server is never blocked by a reader that is gone.
func Send(w io.Writer, captures <-chan Capture) error {
	encoder := json.NewEncoder(w)
	var failed error
	for c := range captures {
		if failed == nil {
			failed = encoder.Encode(c)
		}
	}
	return failed
}

// Receive reads what Send wrote, up to the end of r, and calls keep for each capture. The
// stream is ours, but its contents are hostile: exceeding the bounds is an error.
func Receive(r io.Reader, keep func(Capture)) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 4096), maxWire)
	for lines.Scan() {
		var c Capture
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			return fmt.Errorf("read a capture: %w", err)
		}
		if len(c.Data) > maxData || len(c.Host) > maxHost || len(c.Request) > maxRequest || c.Offset < 0 || c.Lost() < 0 {
			return errors.New("read a capture: it is larger than any that was sent")
		}
		c.Protocol, c.Host, c.Request = line(c.Protocol, maxHost), line(c.Host, maxHost), line(c.Request, maxRequest)
		keep(c)
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read captures: %w", err)
	}
	return nil
}
