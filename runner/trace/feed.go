package trace

import "bytes"

// feeds tracks which process gives work to which: a worker that one call started may
// serve later calls, and gets their work through a pipe or a socket pair.
type feeds struct {
	// workers: a process was started after a request had come. Before that, no
	// writers need to be known.
	workers bool
	// peers has the other ends of socket pairs, by identity.
	peers recent[string, string]
	// writers has the process that last wrote to a pipe or to the other end of a
	// socket pair.
	writers recent[string, *process]
}

func newFeeds() feeds {
	return feeds{peers: newRecent[string, string](4096), writers: newRecent[string, *process](4096)}
}

// paired learns the two ends of a socket pair.
func (d *decoder) paired(c *call) {
	ends := elements(c.arg(3))
	if c.failed() || len(ends) != 2 {
		return
	}
	_, one := descriptor(ends[0])
	_, other := descriptor(ends[1])
	d.feeds.peers.put(identity(one), identity(other))
	d.feeds.peers.put(identity(other), identity(one))
}

// tells notes which process wrote to a pipe or a unix socket.
func (d *decoder) tells(c *call, decor []byte) {
	if !d.feeds.workers || c.failed() || c.result.value <= 0 {
		return
	}
	end := identity(decor)
	if bytes.HasPrefix(decor, []byte("UNIX")) {
		end, _ = d.feeds.peers.get(end)
	}
	if writer, _ := d.feeds.writers.get(end); end != "" && writer != c.task.process {
		d.feeds.writers.put(end, c.task.process)
	}
}

// noteFed notes that a worker read something from a process other than itself and those
// that it started.
func (d *decoder) noteFed(c *call, decor []byte) {
	p := c.task.process
	if len(p.origins) == 0 || c.failed() || c.result.value <= 0 {
		return
	}
	writer, _ := d.feeds.writers.get(identity(decor))
	if writer == nil || writer == p {
		return
	}
	for _, pid := range writer.forebears {
		if pid == p.pid {
			return
		}
	}
	p.fed = d.at
}
