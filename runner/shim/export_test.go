package shim

// Closed returns a channel that is closed when the shim is gone.
func (l *Link) Closed() <-chan struct{} { return l.closed }
