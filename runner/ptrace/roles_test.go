package ptrace_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/mcpaudit/mcpaudit/test/poll"
)

// roles are the programs that both tracers have to agree about.
var roles = map[string]func(dir string) error{
	"files": files, "names": names, "tcp": tcp, "datagrams": datagrams, "unix": unixSockets, "threads": threads,
	"exec": run, "exec of a thread": execThread, "stopped": stopped, "killed": killed, "interrupted": interrupted,
	"true time": aheadOf, "refused": refused, "large": large, "end of the leader": endOfLeader,
}

func files(dir string) error {
	if err := os.Chdir(dir); err != nil {
		return err
	}
	var errs []error
	fd, err := unix.Open("a", unix.O_RDWR|unix.O_CREAT|unix.O_EXCL, 0o600)
	errs = append(errs, err)
	_, err = unix.Write(fd, []byte("some bytes"))
	errs = append(errs, err, unix.Ftruncate(fd, 3), unix.Fchmod(fd, 0o640))
	_, err = unix.Mmap(fd, 0, 3, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	errs = append(errs, err)
	sub, err := unix.Openat2(unix.AT_FDCWD, ".", &unix.OpenHow{Flags: unix.O_DIRECTORY | unix.O_PATH})
	errs = append(errs, err, unix.Mkdirat(sub, "b", 0o755), unix.Renameat2(sub, "a", sub, "b/c", unix.RENAME_NOREPLACE))
	errs = append(errs, unix.Link("b/c", "d"), unix.Symlink("d", "e"), unix.Chmod("e", 0o600), unix.Unlink("d"), unix.Rmdir("nothing"))
	errs = append(errs, unix.UtimesNanoAt(unix.AT_FDCWD, "b", []unix.Timespec{{Sec: -17, Nsec: 5}, {Nsec: unix.UTIME_OMIT}}, 0))
	memory, err := unix.MemfdCreate("memory", 0)
	errs = append(errs, err)
	_, err = unix.Write(memory, []byte("kept"))
	errs = append(errs, err)
	_, err = unix.Sendfile(memory, fd, nil, 3)
	errs = append(errs, err)
	_, err = unix.Open(dir, unix.O_RDWR|unix.O_TMPFILE, 0o600)
	return errors.Join(expect(errs, unix.ENOENT), err)
}

// expect joins errors, without the one that has to be among them.
func expect(errs []error, wanted error) error {
	for i, err := range errs {
		if errors.Is(err, wanted) {
			errs[i] = nil
			return errors.Join(errs...)
		}
	}
	return fmt.Errorf("%w did not come: %w", wanted, errors.Join(errs...))
}

// names are such as would be taken for syntax.
func names(dir string) error {
	for _, name := range []string{"a\nb", `q"`, `back\slash`, "<x>", `id", O_RDONLY) = 3<x> <0.000001>`, "\x01\x1b[0m7", "é", "=> (deleted)"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(name), 0o600); err != nil {
			return err
		}
		if _, err := os.ReadFile(path); err != nil {
			return err
		}
	}
	return nil
}

func tcp(string) error {
	for _, address := range []string{"127.0.0.1:0", "[::1]:0"} {
		listener, err := net.Listen("tcp", address)
		if err != nil {
			return err
		}
		client, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			return err
		}
		server, err := listener.Accept()
		if err != nil {
			return err
		}
		if _, err := client.Write([]byte("hello")); err != nil {
			return err
		}
		if _, err := io.ReadFull(server, make([]byte, 5)); err != nil {
			return err
		}
		buffers := net.Buffers{[]byte("one"), []byte("two")}
		if _, err := buffers.WriteTo(server); err != nil {
			return err
		}
		if _, err := io.ReadFull(client, make([]byte, 6)); err != nil {
			return err
		}
		for _, c := range []io.Closer{client, server, listener} {
			if err := c.Close(); err != nil {
				return err
			}
		}
	}
	return nil
}

func datagrams(string) error {
	server, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
	if err != nil {
		return err
	}
	client, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
	if err != nil {
		return err
	}
	loopback := [4]byte{127, 0, 0, 1}
	if err := unix.Bind(server, &unix.SockaddrInet4{Addr: loopback}); err != nil {
		return err
	}
	at, err := unix.Getsockname(server)
	if err != nil {
		return err
	}
	if err := unix.Sendto(client, []byte("to"), 0, at); err != nil {
		return err
	}
	if err := unix.Sendmsg(client, []byte("message"), nil, at, 0); err != nil {
		return err
	}
	if err := unix.Connect(client, at); err != nil {
		return err
	}
	if _, err := unix.Write(client, []byte("written")); err != nil {
		return err
	}
	for range 3 {
		if _, _, err := unix.Recvfrom(server, make([]byte, 64), 0); err != nil {
			return err
		}
	}
	_, _, _, _, err = unix.Recvmsg(server, make([]byte, 64), nil, unix.MSG_DONTWAIT)
	return expect([]error{err}, unix.EAGAIN)
}

func unixSockets(dir string) error {
	for _, name := range []string{filepath.Join(dir, "socket"), "@mcpaudit-" + fmt.Sprint(os.Getppid())[:1]} {
		listener, err := net.Listen("unix", name)
		if err != nil {
			return err
		}
		client, err := net.Dial("unix", name)
		if err != nil {
			return err
		}
		if _, err := client.Write([]byte("secret")); err != nil {
			return err
		}
		if err := errors.Join(client.Close(), listener.Close()); err != nil {
			return err
		}
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET, 0)
	if err != nil {
		return err
	}
	_, err = unix.Write(pair[0], []byte("to ourselves"))
	return err
}

// threads open files all at once.
func threads(dir string) error {
	const many, each = 16, 40
	var group sync.WaitGroup
	errs := make([]error, many)
	for i := range many {
		group.Go(func() {
			runtime.LockOSThread() // never unlocked: the thread ends, too
			for j := range each {
				fd, err := unix.Open(filepath.Join(dir, fmt.Sprintf("%d-%d", i, j)), unix.O_WRONLY|unix.O_CREAT, 0o600)
				errs[i] = errors.Join(errs[i], err, unix.Close(fd))
			}
		})
	}
	group.Wait()
	return errors.Join(errs...)
}

// run starts programs, of which one does not exist and one is a script.
func run(dir string) error {
	script := filepath.Join(dir, "script")
	if err := os.WriteFile(script, []byte("#!/bin/sh\n: >"+filepath.Join(dir, "made")+"\n"), 0o700); err != nil {
		return err
	}
	for _, command := range [][]string{{"/bin/sh", "-c", ":"}, {script, "argument"}, {"/bin/sh", "-c", "(:) & wait"}} {
		if err := exec.Command(command[0], command[1:]...).Run(); err != nil {
			return err
		}
	}
	_, err := syscall.ForkExec(filepath.Join(dir, "none"), []string{"none"}, nil)
	return expect([]error{err}, unix.ENOENT)
}

// execThread becomes another program by a thread that is not the first.
func execThread(string) error {
	failed := make(chan error)
	go func() {
		runtime.LockOSThread()
		failed <- syscall.Exec("/bin/sh", []string{"sh", "-c", "exec /bin/true"}, nil)
	}()
	return <-failed
}

// stopped is stopped by job control, and goes on.
func stopped(dir string) error {
	cmd := exec.Command("/bin/sh", "-c", "kill -STOP $$; : >"+filepath.Join(dir, "after"))
	if err := cmd.Start(); err != nil {
		return err
	}
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(cmd.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
		return fmt.Errorf("it is not stopped: %v, %w", status, err)
	}
	if err := cmd.Process.Signal(syscall.SIGCONT); err != nil {
		return err
	}
	return cmd.Wait()
}

// killed ends a program within a call.
func killed(string) error {
	read, write, err := os.Pipe()
	if err != nil {
		return err
	}
	cmd := exec.Command("/bin/sh", "-c", "echo; read x <&3")
	cmd.ExtraFiles = []*os.File{read}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	if _, err := out.Read(make([]byte, 1)); err != nil {
		return err
	}
	if err := cmd.Process.Kill(); err != nil {
		return err
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) {
		return fmt.Errorf("it is not killed: %w", err)
	}
	return write.Close()
}

// interrupted is in a call when a signal comes.
func interrupted(dir string) error {
	var pipe [2]int
	if err := unix.Pipe(pipe[:]); err != nil {
		return err
	}
	done := make(chan error)
	tid := make(chan int)
	go func() {
		runtime.LockOSThread()
		tid <- unix.Gettid()
		_, err := unix.Read(pipe[0], make([]byte, 1)) // SIGURG is Go's own, and restarts it
		done <- err
	}()
	reader := <-tid
	reading := []byte(fmt.Sprintf("%d ", unix.SYS_READ))
	poll.For(poll.Patience, func() bool {
		state, err := os.ReadFile(fmt.Sprintf("/proc/self/task/%d/syscall", reader))
		return err != nil || bytes.HasPrefix(state, reading)
	})
	if err := unix.Tgkill(os.Getpid(), reader, unix.SIGURG); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "meanwhile"), nil, 0o600); err != nil {
		return err
	}
	if _, err := unix.Write(pipe[1], []byte{1}); err != nil {
		return err
	}
	return <-done
}

// refused makes calls that the tracer fails.
func refused(string) error {
	_, _, traceMe := unix.RawSyscall6(unix.SYS_PTRACE, unix.PTRACE_TRACEME, 0, 0, 0, 0, 0)
	_, _, ring := unix.RawSyscall(unix.SYS_IO_URING_SETUP, 8, 0, 0)
	if traceMe != unix.EPERM || ring != unix.ENOSYS {
		return fmt.Errorf("ptrace: %w, io_uring_setup: %w", traceMe, ring)
	}
	return nil
}

// large passes more than is printed.
func large(dir string) error {
	path := filepath.Join(dir, "large")
	if err := os.WriteFile(path, make([]byte, 10000), 0o600); err != nil {
		return err
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		return err
	}
	_, err = unix.Write(pair[0], make([]byte, 5000))
	return err
}

// endOfLeader goes on when the first thread has ended.
func endOfLeader(dir string) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread()
		poll.For(poll.Patience, func() bool {
			state, err := os.ReadFile("/proc/thread-self/../../status")
			return err != nil || bytes.Contains(state, []byte("State:\tZ"))
		})
		if err := tcp(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}()
	_, _, _ = unix.RawSyscall(unix.SYS_EXIT, 0, 0, 0) // ends this thread alone
	return <-done
}
