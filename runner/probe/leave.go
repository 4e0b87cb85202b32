package probe

import (
	"context"
	"time"
)

// linger watches a listening server after its client has left: it waits until the server has been
// quiet for Options.Idle, for at most Options.Grace, unless the server is not watched.
func (s *session) linger(ctx context.Context) {
	if s.wire.conn.HTTP == nil || s.wire.conn.Active == nil {
		return
	}
	left := time.Now()
	for {
		quiet := left
		if active := s.active(); active.After(quiet) {
			quiet = active
		}
		wait := min(time.Until(quiet.Add(s.options.Idle)), time.Until(left.Add(s.options.Grace)))
		if wait <= 0 {
			return
		}
		select {
		case <-time.After(wait):
		case <-s.wire.conn.Exited:
			return
		case <-ctx.Done():
			return
		}
	}
}
