package decoy

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// Watch reports which planted files were opened, by inode (inotify(7)): even through a
// link, a moved directory or another mount, where the trace has another name.
type Watch struct {
	fd    int
	paths map[int32]string
}

const (
	// patience bounds the wait for an instance of inotify, which end with other processes.
	patience     = 20 * time.Second
	pollInterval = 20 * time.Millisecond
)

// instance returns a new instance of inotify. A user has few of them (fs.inotify.max_user_instances in proc_sys_fs(5)),
// which all audits and the rest of the machine share.
func instance(ctx context.Context) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
		if !errors.Is(err, unix.EMFILE) {
			return fd, err
		}
		select {
		case <-ctx.Done():
			return 0, fmt.Errorf("%w: the user has no instance of inotify left: raise fs.inotify.max_user_instances (sysctl)", err)
		case <-time.After(pollInterval):
		}
	}
}

// Watch watches the files below root. Call it after they were planted and before
// the server runs. A missing file belongs to another place.
func (s Set) Watch(ctx context.Context, root string) (*Watch, error) {
	fd, err := instance(ctx)
	if err != nil {
		return nil, fmt.Errorf("watch the decoys: %w", err)
	}
	w := &Watch{fd: fd, paths: map[int32]string{}}
	for _, f := range s.Files {
		// Once: many openings of one file cannot overflow the queue.
		wd, err := unix.InotifyAddWatch(fd, filepath.Join(root, f.Path), unix.IN_OPEN|unix.IN_ONESHOT)
		switch {
		case errors.Is(err, unix.ENOENT):
			continue
		case err != nil:
			return nil, errors.Join(fmt.Errorf("watch the decoy %s: %w", f.Path, err), unix.Close(fd))
		}
		w.paths[int32(wd)] = f.Path //nolint:gosec // the kernel's own type
	}
	return w, nil
}

// End returns the planted paths of the files that were opened, in the order of
// their first opening, and ends the watch. Call it once.
func (w *Watch) End() []string {
	var opened []string
	events := make([]byte, 64<<10)
	for {
		n, err := unix.Read(w.fd, events)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || n <= 0 {
			break
		}
		// struct inotify_event: wd, mask, cookie, length of the name that follows.
		for rest := events[:n]; len(rest) >= unix.SizeofInotifyEvent; {
			wd := int32(binary.NativeEndian.Uint32(rest)) //nolint:gosec // as it was written
			if path, ok := w.paths[wd]; ok && binary.NativeEndian.Uint32(rest[4:])&unix.IN_OPEN != 0 {
				opened = append(opened, path)
			}
			rest = rest[min(len(rest), unix.SizeofInotifyEvent+int(binary.NativeEndian.Uint32(rest[12:]))):]
		}
	}
	_ = unix.Close(w.fd) // read only
	return opened
}
