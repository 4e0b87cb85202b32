package ptrace_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mcpaudit/mcpaudit/api/plan"
	"github.com/mcpaudit/mcpaudit/runner/trace"
	"github.com/mcpaudit/mcpaudit/test/poll"
)

// output runs a command by a clock, and returns what it prints.
func output(t *testing.T, clock trace.Clock, command ...string) string {
	t.Helper()
	cfg := trace.Config{Backend: plan.TracerPtrace, Clock: clock, File: filepath.Join(t.TempDir(), "trace")}
	ctx, cancel := context.WithTimeout(t.Context(), poll.Patience)
	defer cancel()
	argv := trace.Wrap(cfg, command)
	out, err := exec.CommandContext(ctx, argv[0], argv[1:]...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v: %s", command, err, out)
	}
	return string(out)
}

// built compiles a program of testdata.
func built(t *testing.T, compiler ...string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "program")
	for i, word := range compiler {
		compiler[i] = strings.ReplaceAll(word, "OUT", program)
	}
	if out, err := exec.Command(compiler[0], compiler[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", compiler, err, out)
	}
	return program
}

// TestADayGoesBy: a day's waits end at once, and all clocks have gone on by a day.
func TestADayGoesBy(t *testing.T) {
	day := trace.Clock{Rate: 30000, For: time.Minute}
	for name, command := range map[string][]string{
		"Go":     {built(t, "go", "build", "-o", "OUT", "./testdata/waits")},
		"static": {built(t, "gcc", "-static", "-o", "OUT", "testdata/waits.c")},
		"Python": {"python3", "testdata/waits.py"},
		"an idle connection": {"python3", "-c", "import socket, time; l = socket.create_server(('127.0.0.1', 0)); c = socket.create_connection(l.getsockname()); d, _ = l.accept(); " +
			"c.send(b'x'); d.recv(1); time.sleep(24 * 3600); i = d.getsockopt(socket.IPPROTO_TCP, 11, 104); print(int.from_bytes(i[52:56], 'little') / 36e5 + 0.5, 24)"},
		"sysinfo": {"python3", "-c", "import ctypes, time; libc = ctypes.CDLL(None); info = (ctypes.c_long * 16)(); libc.sysinfo(info); up = info[0]; assert info[13] & 0xffffffff == 1; " +
			"time.sleep(24 * 3600); libc.sysinfo(info); print((info[0] - up + 1) // 3600, 24)"},
		"/proc/uptime": {"node", "-e", `const up = os.uptime(); setTimeout(() => console.log(Math.round((os.uptime() - up) / 36e2), 24), 24 * 36e5)`},
		"Node": {"node", "-e", `const start = performance.now(), date = Date.now();
			setTimeout(() => console.log(Math.floor((performance.now() - start) / 36e5), Math.floor((Date.now() - date) / 36e5)), 24 * 36e5)`},
	} {
		t.Run(name, func(t *testing.T) {
			var clock, date float64
			out := output(t, day, command...)
			if _, err := fmt.Sscan(out, &clock, &date); err != nil || clock < 24 || date < 24 {
				t.Errorf("%v hours by the clock and %v by the date, error %v: %s", clock, date, err, out)
			}
		})
	}
}

// asking sleeps for hours, and then waits up to five seconds for an answer that takes a while. It asks again if the
// machine was too busy to answer in time.
const asking = `
import socket, threading, time
a = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
a.bind(("127.0.0.1", 0))
def answer():
    while True:
        text, other = a.recvfrom(16)
        begun = time.thread_time()
        while time.thread_time() < begun + 0.002: pass
        a.sendto(text, other)
threading.Thread(target=answer, daemon=True).start()
time.sleep(3 * 3600)
for _ in range(8):
    begun = time.monotonic()
    b = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    b.settimeout(5)
    ASK
    try: text = b.recv(16)
    except OSError: continue
    if time.monotonic() < begun + 5:
        print(text.decode())
        break
begun = time.monotonic()
time.sleep(3600)
assert time.monotonic() >= begun + 3600
`

// TestAnswers: an answer comes before a time-out of seconds ends, however fast time goes.
func TestAnswers(t *testing.T) {
	week := trace.Clock{Rate: 210000, For: time.Minute}
	for _, ask := range []string{`b.connect(a.getsockname()); b.send(b"hello")`, `b.sendto(b"hello", a.getsockname())`} {
		if out := output(t, week, "python3", "-c", strings.Replace(asking, "ASK", ask, 1)); out != "hello\n" {
			t.Errorf("%s: the answer is %q", ask, out)
		}
	}
}

// TestNoAnswers: a program that asks again and again, and is never answered, does not stop the time.
func TestNoAnswers(t *testing.T) {
	const asking = `
import socket, time
begun = time.monotonic()
for _ in range(200):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.settimeout(3600)
    s.connect(("127.0.0.1", 9))
    try: s.recv(1)
    except OSError: pass
print(time.monotonic() >= begun + 190 * 3600)
`
	if out := output(t, trace.Clock{Rate: 210000, For: time.Minute}, "python3", "-c", asking); out != "True\n" {
		t.Errorf("time stands: %q", out)
	}
}

// TestLaterDate: dates are ahead, and timers are not.
func TestLaterDate(t *testing.T) {
	later := trace.Clock{Forward: 45 * 24 * time.Hour}
	want := time.Now().Add(later.Forward).Unix()
	for name, command := range map[string][]string{
		"glibc":         {"date", "+%s"},
		"Node":          {"node", "-p", "Math.floor(Date.now()/1000)"},
		"waits":         {"python3", "-c", "import threading, time; c = threading.Condition(); c.acquire(); c.wait(0.01); print(int(time.time()))"},
		"adjtimex":      {"python3", "-c", "import ctypes; libc = ctypes.CDLL(None); t = (ctypes.c_long * 26)(); assert libc.adjtimex(t) >= 0; print(t[9])"},
		"clock_adjtime": {"python3", "-c", "import ctypes; libc = ctypes.CDLL(None); t = (ctypes.c_long * 26)(); assert libc.clock_adjtime(0, t) >= 0; print(t[9])"},
		"a new file":    {"python3", "-c", "import os, tempfile; f = tempfile.NamedTemporaryFile(); f.write(b'x'); f.flush(); s = os.stat(f.name); assert s.st_mtime == s.st_ctime == os.fstat(f.fileno()).st_mtime; print(int(s.st_mtime))"},
		"its own time":  {"python3", "-c", "import os, tempfile, time; f = tempfile.NamedTemporaryFile(); now = time.time(); os.utime(f.name, (now, now)); print(int(os.stat(f.name).st_mtime))"},
		"statx":         {"sh", "-c", "f=$(mktemp); stat -c %Y $f; rm $f"}, // within the first tick
		"shared memory": {"python3", "-c", sharedTime},
		"SO_TIMESTAMP": {"python3", "-c", "import socket, struct; a, b = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in 'ab'); a.bind(('127.0.0.1', 0)); a.setsockopt(1, 29, 1); " +
			"b.sendto(b'x', a.getsockname()); print(struct.unpack('qq', a.recvmsg(16, 256)[1][0][2])[0])"},
		"btime":  {"python3", "-c", "import time; up = time.clock_gettime(time.CLOCK_BOOTTIME); print(int(next(l for l in open('/proc/stat') if l.startswith('btime')).split()[1]) + int(up) + 2)"},
		"uptime": {"python3", "-c", "import time; u = float(open('/proc/uptime').read().split()[0]); assert abs(u - time.clock_gettime(time.CLOCK_BOOTTIME)) < 3600; print(int(time.time()))"},
	} {
		var got int64
		out := output(t, later, command...)
		if _, err := fmt.Sscan(out, &got); err != nil || got < want || got > want+int64(poll.Patience.Seconds()) {
			t.Errorf("%s: %s, want %d", name, out, want)
		}
	}
}

const sharedTime = `
import ctypes
c = ctypes.CDLL(None)
c.shmat.restype = ctypes.c_void_p
i = c.shmget(0, 4096, 0o1600)
p = c.shmat(i, None, 0)
b = ctypes.create_string_buffer(256)
c.shmctl(i, 2, b)
c.shmdt(ctypes.c_void_p(p))
c.shmctl(i, 0, None)
print(int.from_bytes(b.raw[56:64], "little"))
`

// TestOlderFiles: what was there before the server has the times that it has.
func TestOlderFiles(t *testing.T) {
	name := filepath.Join(t.TempDir(), "old")
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	modified := time.Now().Add(-time.Minute)
	if err := os.Chtimes(name, modified, modified); err != nil {
		t.Fatal(err)
	}
	later := trace.Clock{Forward: 45 * 24 * time.Hour}
	if out := output(t, later, "stat", "-c", "%Y", name); out != fmt.Sprintln(modified.Unix()) {
		t.Errorf("it is of %s, want %d", out, modified.Unix())
	}
}

// TestInstalled: a server sees the disk of a machine that somebody has installed, the same however it reads.
func TestInstalled(t *testing.T) {
	const look = `
import os
def pieces(name, size):
    fd, all = os.open(name, os.O_RDONLY), b""
    while piece := os.read(fd, size): all += piece
    return all.decode()
for name, at, kind in ("/proc/self/mounts", 1, 2), ("/proc/self/mountinfo", 4, 8):
    text = pieces(name, 1 << 16)
    assert text == pieces(name, 100), text
    points = {l.split()[at]: l.split()[kind] for l in text.splitlines()}
    assert points["/"] == "ext4" and points["/proc"] == "proc", points
    assert not {"overlay", "tmpfs"} & {k for p, k in points.items() if not p.startswith(("/dev", "/run", "/tmp", "/sys"))}, points
assert os.statvfs("/usr").f_blocks in (124820734, os.statvfs("/").f_blocks)
print(open("/proc/self/mounts").read().count(" / "))
`
	if out := output(t, trace.Clock{Forward: time.Hour}, "python3", "-c", look); out != "1\n" {
		t.Errorf("it sees %s", out)
	}
}

// TestMachine: a server sees the processors and the memory of a machine that somebody works at.
func TestMachine(t *testing.T) {
	const look = `
import os, re
def read(name): return open(name).read()
seen = {os.cpu_count(), len(os.sched_getaffinity(0)), len(re.findall(r"(?m)^processor", read("/proc/cpuinfo"))),
    len(re.findall(r"(?m)^cpu\d", read("/proc/stat"))), int(read("/sys/devices/system/cpu/online").strip().split("-")[-1]) + 1}
memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"), int(re.search(r"MemTotal:\s+(\d+)", read("/proc/meminfo"))[1]) << 10
print(len(seen) == 1 and min(seen) >= 12 and min(memory) >= 32 << 30, seen, memory)
`
	later := trace.Clock{Forward: time.Hour}
	if out := output(t, later, "python3", "-c", look); !strings.HasPrefix(out, "True") {
		t.Errorf("it sees %s", out)
	}
	if out := output(t, later, "node", "-p", "os.cpus().length >= 12 && os.totalmem() >= 2 ** 35"); out != "true\n" {
		t.Errorf("Node sees %s", out)
	}
}

// TestSwitches: the tracer's stops are no switches of the server's.
func TestSwitches(t *testing.T) {
	const look = `
import os, resource, re
def count(who): return resource.getrusage(who).ru_nvcsw
def status(): return int(re.search(r"\nvoluntary_ctxt_switches:\t(\d+)", open("/proc/self/status").read())[1])
before = count(resource.RUSAGE_THREAD), count(resource.RUSAGE_SELF), status()
for _ in range(200): os.close(os.open("/etc/hostname", os.O_RDONLY))
after = count(resource.RUSAGE_THREAD), count(resource.RUSAGE_SELF), status()
print(max(b - a for a, b in zip(before, after)) < 100, after)
`
	if out := output(t, trace.Clock{Forward: time.Hour}, "python3", "-c", look); !strings.HasPrefix(out, "True") {
		t.Errorf("it sees %s", out)
	}
}

// TestUnconfined: a server does not see by its status that it is confined.
func TestUnconfined(t *testing.T) {
	const confined = `import ctypes, re; assert ctypes.CDLL(None).prctl(38, 1, 0, 0, 0) == 0; ` +
		`print(re.findall(r"(?:NoNewPrivs|CapBnd|TracerPid):\t(\w+)", open("/proc/self/status").read()))`
	if out := output(t, trace.Clock{Forward: time.Hour}, "python3", "-c", confined); out != "['0', '000001ffffffffff', '0']\n" {
		t.Errorf("it sees %s", out)
	}
}

// TestInSession: a server finds itself in the session of a user.
func TestInSession(t *testing.T) {
	const look = `print(open("/proc/self/loginuid").read(), "splash" in open("/proc/cmdline").read(), ".scope" in open("/proc/self/cgroup").read() or "single")`
	if out := output(t, trace.Clock{Forward: time.Hour}, "python3", "-c", look); !strings.HasPrefix(out, "1000 True ") {
		t.Errorf("it sees %s", out)
	}
}

// TestTrueTime: what starts the server sees the true time, also when the server has begun.
func TestTrueTime(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if out := output(t, trace.Clock{Forward: 45 * 24 * time.Hour}, self, roleArg, "true time", t.TempDir()); out != "45\n" {
		t.Errorf("the server is %q days ahead of what started it, want 45", out)
	}
}

// aheadOf prints how many days the clock of a program that we start is ahead of ours.
func aheadOf(string) error {
	out, err := exec.Command("date", "+%s").Output()
	if err != nil {
		return err
	}
	server, err := strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
	fmt.Println(math.Round(time.Until(time.Unix(server, 0)).Hours() / 24))
	return err
}
