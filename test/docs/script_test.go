package docs

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// blockDeadline bounds a hang; it measures nothing.
const blockDeadline = 4 * time.Minute

var saved = regexp.MustCompile(`^# file: ([A-Za-z0-9][A-Za-z0-9._/-]*)(?:\s|$)`)

// story is a page as it is run: one script, each line of which has the number that it
// has in the page.
type story struct {
	page    *page
	replace func(string) string // what the page writes, in what is run
	dir     string              // for the script, and the working directory
	env     []string
}

// mark begins a line of the output that says how far the story is.
const mark = "\x01docs-test"

// script is the page with all but its blocks blanked. What the tests do themselves stands
// on the lines of the fences.
func (s *story) script() (string, error) {
	lines := make([]string, s.page.line(len(s.page.source))+2)
	lines[0] = `set -eu; trap 'echo "line $LINENO: $BASH_COMMAND: exit code $?" >&2' ERR`
	for i, b := range s.page.blocks {
		var begin, end string
		switch {
		case b.attributes["skip"] != "":
			continue
		case b.language == "sh":
			copy(lines[b.first:], strings.Split(s.replace(b.text), "\n")[:b.last-b.first-1])
			if code := b.attributes["exit"]; code != "" {
				begin = "set +e"
				end = `docs_code=$?; set -e; [ "$docs_code" = ` + code + ` ] || { echo "exit code $docs_code, and not ` + code + `" >&2; exit 1; }`
			}
		case b.language == "yaml":
			file := filepath.Join(s.dir, "blocks", strconv.Itoa(b.first)+".yaml")
			if err := write(file, s.replace(b.text)); err != nil {
				return "", err
			}
			if name := saved.FindStringSubmatch(b.text); name != nil {
				begin = fmt.Sprintf("mkdir -p -- %s; cp -- %s %s", quote(filepath.Dir(name[1])), quote(file), quote(name[1]))
			}
			if isObjects(b.text) {
				end = "kubectl apply --server-side --force-conflicts --field-manager=docs-test --dry-run=server --validate=strict -f " + quote(file)
			}
			if begin+end == "" {
				continue
			}
		default:
			continue
		}
		lines[b.first-1] += fmt.Sprintf("; printf '\\n%s %%s\\n' %d; %s", `\001docs-test`, i, cmp.Or(begin, ":"))
		lines[b.last-1] += cmp.Or(end, ":") + fmt.Sprintf("; printf '\\n%s end\\n'", `\001docs-test`)
	}
	for i, line := range lines {
		lines[i] = strings.TrimPrefix(line, "; ")
	}
	return strings.Join(lines, "\n") + "\n", nil
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

func write(file, content string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(content), 0o600)
}

// run runs the story to its end, or to the first block that fails or takes too long. The
// error has the block's output.
func (s *story) run(ctx context.Context, deadline time.Duration) error {
	script, err := s.script()
	if err != nil {
		return err
	}
	file, cwd := filepath.Join(s.dir, s.page.path), filepath.Join(s.dir, "cwd")
	if err := errors.Join(write(file, script), os.MkdirAll(cwd, 0o755)); err != nil {
		return err
	}
	command := exec.Command("bash", file)
	command.Dir, command.Env = cwd, s.env
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, in, err := os.Pipe()
	if err != nil {
		return err
	}
	defer func() { _ = out.Close() }()
	command.Stdout, command.Stderr = in, in
	err = command.Start()
	_ = in.Close()
	if err != nil {
		return err
	}
	kill := func() { _ = syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
	ended := make(chan error, 1)
	go func() {
		err := command.Wait()
		kill() // what the page left in the background, and with it the other end of the pipe
		ended <- err
	}()
	return s.follow(ctx, lines(out), ended, kill, deadline)
}

// lines returns the lines of the output; the channel is closed at its end.
func lines(out io.Reader) <-chan string {
	all := make(chan string)
	go func() {
		defer close(all)
		scanner := bufio.NewScanner(out)
		scanner.Buffer(nil, 16<<20)
		for scanner.Scan() {
			all <- scanner.Text()
		}
	}()
	return all
}

func (s *story) follow(ctx context.Context, output <-chan string, ended <-chan error, kill func(), deadline time.Duration) error {
	var (
		at     = -1 // the block
		said   []string
		timer  = time.NewTimer(deadline)
		reason string
	)
	stop := func(why string) {
		if reason == "" {
			reason = why
		}
		kill()
	}
	for {
		select {
		case <-ctx.Done():
			stop(ctx.Err().Error())
			ctx = context.Background()
		case <-timer.C:
			stop(fmt.Sprintf("takes longer than %s", deadline))
		case line, more := <-output:
			if !more {
				if err := <-ended; err != nil {
					return s.failed(at, cmp.Or(reason, err.Error()), said)
				}
				return nil
			}
			block, found := strings.CutPrefix(line, mark+" ")
			switch {
			case !found:
				said = append(said, line)
			case block != "end":
				at, _ = strconv.Atoi(block)
				said = nil
			}
			if found {
				timer.Reset(deadline)
			}
		}
	}
}

func (s *story) failed(at int, reason string, said []string) error {
	line := 1
	if at >= 0 {
		line = s.page.blocks[at].first
	}
	said = slices.DeleteFunc(said, func(line string) bool { return line == "" })
	return fmt.Errorf("%s:%d: the block fails: %s\n\t%s", s.page.path, line, reason, strings.Join(said[max(0, len(said)-60):], "\n\t"))
}

// counts are the blocks that the story runs or asks the API server about, those that are
// only parsed, and the reasons of those that are skipped.
func (p *page) counts() (run, parsed int, skipped map[string]int) {
	skipped = map[string]int{}
	for _, b := range p.blocks {
		switch reason := b.attributes["skip"]; {
		case reason != "":
			skipped[reason]++
		case b.language == "sh" && !b.hidden, b.language == "yaml" && isObjects(b.text):
			run++
		case b.language == "yaml", b.language == "json":
			parsed++
		}
	}
	return run, parsed, skipped
}

// TestStory runs pages without a cluster: what the tests of the pages rest on.
func TestStory(t *testing.T) {
	t.Parallel()
	run := func(content string) error {
		s := &story{page: parse("docs/page.md", []byte(content)), replace: strings.NewReplacer("NAME", "world").Replace, dir: t.TempDir(), env: os.Environ()}
		return s.run(t.Context(), time.Minute)
	}
	for _, fine := range []string{
		"# One shell\n\n```sh\na=hello\n```\n\ntext\n\n```sh\ntest \"$a NAME\" = 'hello world'\n```\n",
		"<!-- docs-test: sh\na=1\n-->\n```sh\ntest $a = 1\n```\n",
		"```yaml\n# file: dir/a.yaml\na: NAME\n```\n\n```sh\ngrep -q 'a: world' dir/a.yaml\n```\n",
		"```sh exit=\"3\"\n(exit 3)\n```\n```sh\ntrue\n```\n",
		"```sh skip=\"it fails\"\nfalse\n```\n",
		"```sh\nsleep 600 &\n```\n",
		"```sh\nprintf 'no end of line'\ncat <<'E'\na heredoc, 'with a quote\nE\n```\n",
	} {
		if err := run(fine); err != nil {
			t.Errorf("%s%v", fine, err)
		}
	}
	for content, want := range map[string]string{
		"```sh\ntrue\n```\n\n```sh\necho why >&2\nfalse\n```\n": "docs/page.md:5: the block fails: exit status 1\n\twhy\n\tline 7: false: exit code 1",
		"a\n\n```sh\necho $unset\n```\n":                        "line 4: unset: unbound variable",
		"```sh exit=\"3\"\ntrue\n```\n":                         "exit code 0, and not 3",
		"```sh\ncd gone\n```\n```sh\ntrue\n```\n":               "docs/page.md:1:",
	} {
		if err := run(content); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s%v", content, err)
		}
	}
	hangs := &story{page: parse("docs/page.md", []byte("```sh\nsleep 600\n```\n")), replace: strings.NewReplacer().Replace, dir: t.TempDir(), env: os.Environ()}
	if err := hangs.run(t.Context(), 100*time.Millisecond); err == nil || !strings.Contains(err.Error(), "takes longer than 100ms") {
		t.Error(err)
	}
}
