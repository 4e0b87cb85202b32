package shim

// Closed is closed when the shim is gone.
func (l *Link) Closed() <-chan struct{} { return l.closed }
