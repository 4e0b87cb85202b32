package harden

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// helperArg makes the test binary a runner that is hardened and says what it can do.
const helperArg = "hardened-runner"

func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == helperArg {
		if err := helper(os.Args[2], os.Args[3]); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func helper(how, dir string) error {
	// A thread that is there before the filter has to have it, too.
	ask, answer := make(chan func() error), make(chan error)
	go func() {
		runtime.LockOSThread()
		for try := range ask {
			answer <- try()
		}
	}()
	there := func(try func() error) error {
		ask <- try
		return <-answer
	}
	if how == "talking" {
		note, err := Files(filepath.Join(dir, "own"))
		fmt.Printf("note %q\n", note)
		if err := errors.Join(err, Talking()); err != nil {
			return err
		}
	} else if err := Tracing(); err != nil {
		return err
	}
	for name, try := range map[string]func() error{
		"open_by_handle_at": func() error {
			_, err := unix.OpenByHandleAt(unix.AT_FDCWD, unix.NewFileHandle(1, []byte("12345678")), unix.O_RDONLY)
			return err
		},
		"name_to_handle_at": func() error { _, _, err := unix.NameToHandleAt(unix.AT_FDCWD, "/", 0); return err },
		"unshare":           func() error { return unix.Unshare(unix.CLONE_NEWUSER | unix.CLONE_FS) },
		"clone": func() error {
			pid, _, errno := unix.RawSyscall6(unix.SYS_CLONE, unix.CLONE_NEWUSER|uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
			if errno == 0 && pid == 0 {
				unix.Exit(0)
			}
			return errno
		},
		"clone3":         func() error { _, _, errno := unix.RawSyscall(unix.SYS_CLONE3, 0, 0, 0); return errno },
		"open_tree_attr": func() error { _, _, errno := unix.RawSyscall(openTreeAttr, 0, 0, 0); return errno },
		"keyctl":         func() error { _, err := unix.KeyctlGetKeyringID(unix.KEY_SPEC_SESSION_KEYRING, true); return err },
		"bpf":            func() error { _, _, errno := unix.Syscall(unix.SYS_BPF, 0, 0, 0); return errno },
		"write":          func() error { return os.WriteFile(filepath.Join(dir, "other"), nil, 0o600) },
		"read":           func() error { _, err := os.ReadFile(filepath.Join(dir, "secret")); return err },
		"own":            func() error { return os.WriteFile(filepath.Join(dir, "own"), []byte("x"), 0o600) },
		"hosts":          func() error { _, err := os.ReadFile("/etc/hosts"); return err },
		"exec": func() error {
			pid, err := syscall.ForkExec("/bin/true", []string{"true"}, nil)
			if err == nil {
				_, err = syscall.Wait4(pid, nil, 0, nil)
			}
			return err
		},
	} {
		fmt.Println(name, word(try()), word(there(try)))
	}
	return nil
}

// word is the name of an error number, or ok.
func word(err error) string {
	var errno unix.Errno
	switch {
	case err == nil:
		return "ok"
	case errors.As(err, &errno) && errno != 0:
		return unix.ErrnoName(errno)
	case err.Error() == unix.Errno(0).Error():
		return "ok"
	}
	return "failed"
}

// TestS14TheRunnerIsHeld: after it was hardened a runner cannot do what only a fault would
// have it do, on any of its threads, and can do its own work.
func TestS14TheRunnerIsHeld(t *testing.T) {
	always := []string{"open_by_handle_at EPERM", "name_to_handle_at EPERM", "unshare EPERM", "clone EPERM", "clone3 ENOSYS", "open_tree_attr EPERM", "keyctl EPERM", "bpf EPERM", "own ok", "hosts ok"}
	for how, want := range map[string][]string{
		"tracing": {"exec ok", "read ok", "write ok"},
		"talking": {"exec EPERM", "read EACCES", "write EACCES"},
	} {
		t.Run(how, func(t *testing.T) {
			dir := t.TempDir()
			for _, name := range []string{"own", "secret"} {
				if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			out, err := exec.Command(os.Args[0], helperArg, how, dir).CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			t.Logf("%s", out)
			if how == "talking" && !strings.Contains(string(out), `note ""`) {
				t.Log("without Landlock: files are not held")
				want = []string{"exec EPERM"}
			}
			for _, line := range append(want, always...) {
				name, errno, _ := strings.Cut(line, " ")
				if !strings.Contains(string(out), name+" "+errno+" "+errno+"\n") {
					t.Errorf("want %s on both threads", line)
				}
			}
		})
	}
}

// TestS14WithoutLandlock: an old kernel is said, and is no failure.
func TestS14WithoutLandlock(t *testing.T) {
	if note, err := restrict(0, nil); err != nil || !strings.Contains(note, "no Landlock") {
		t.Errorf("note %q, %v", note, err)
	}
}
