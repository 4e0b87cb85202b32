package packages

import (
	"archive/zip"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// wheel writes a wheel of a package with a program of any name.
func wheel(t *testing.T, dir, of, program string) {
	t.Helper()
	file, err := os.Create(filepath.Join(dir, of+"-1.0-py3-none-any.whl"))
	if err != nil {
		t.Fatal(err)
	}
	archive := zip.NewWriter(file)
	info := of + "-1.0.dist-info/"
	for name, text := range map[string]string{
		of + "/__init__.py":       "def main(): pass\n",
		info + "METADATA":         "Metadata-Version: 2.1\nName: " + of + "\nVersion: 1.0\n",
		info + "WHEEL":            "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
		info + "RECORD":           of + "/__init__.py,,\n" + info + "METADATA,,\n" + info + "WHEEL,,\n" + info + "entry_points.txt,,\n" + info + "RECORD,,\n",
		info + "entry_points.txt": fmt.Sprintf("[console_scripts]\n%s = %s:main\n%s = %s:main\n", of, of, program, of),
	} {
		w, err := archive.Create(name)
		if err == nil {
			_, err = w.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
}

// indexOf makes pip take packages only from a directory.
func indexOf(t *testing.T, dir string) {
	t.Helper()
	for name, value := range map[string]string{"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": dir, "PIP_CONFIG_FILE": os.DevNull, "HOME": t.TempDir()} {
		t.Setenv(name, value)
	}
}

// TestZ1WheelsChangeNothingElsewhere: pip from 24.0 on creates a script wherever its name leads, and older ones where it ends.
func TestZ1WheelsChangeNothingElsewhere(t *testing.T) {
	index, home := t.TempDir(), t.TempDir()
	victim := filepath.Join(home, "git")
	wheel(t, index, "honest", "honest-cli")
	wheel(t, index, "hostile", victim)
	indexOf(t, index)
	i, err := Package{Registry: PyPI, Name: "honest"}.Install(t.Context(), filepath.Join(t.TempDir(), "honest"))
	if err != nil || i.programs["honest-cli"] == nil {
		t.Errorf("an honest package: %v, %v", i.programs, err)
	}
	_, err = Package{Registry: PyPI, Name: "hostile"}.Install(t.Context(), filepath.Join(t.TempDir(), "hostile"))
	if _, stat := os.Stat(victim); stat == nil {
		t.Error("the package has written a program of the user's")
	}
	t.Log(err)
}

// TestZ1GuardOfPip: the pip of the environment changes and starts nothing outside it, in whichever way.
func TestZ1GuardOfPip(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	venv, tmp, guarded := filepath.Join(dir, "venv"), filepath.Join(dir, "tmp"), filepath.Join(dir, "guard")
	if err := runPython(t.Context(), "python3", dir, "", "venv", "--without-pip", venv); err != nil {
		t.Fatal(err)
	}
	for _, made := range []string{tmp, guarded, filepath.Join(outside, "d")} {
		if err := os.Mkdir(made, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for file, text := range map[string]string{filepath.Join(guarded, "sitecustomize.py"): fmt.Sprintf(guard, venv, tmp), filepath.Join(outside, "old"): "kept", filepath.Join(venv, "own"): ""} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(outside, filepath.Join(venv, "link")); err != nil {
		t.Fatal(err)
	}
	for code, allowed := range map[string]bool{
		"open(V + '/new', 'w')":                                                       true,
		"open(T + '/new', 'wb')":                                                      true,
		"os.rename(V + '/own', T + '/own')":                                           true,
		"open(O + '/old').read()":                                                     true,
		"open(os.devnull, 'w')":                                                       true,
		"os.makedirs(os.path.expanduser('~/.cache/pip'))":                             false,
		"open(O + '/new', 'w')":                                                       false,
		"open(V + '/../../new', 'w')":                                                 false,
		"open(V + '/link/new', 'w')":                                                  false,
		"open((O + '/old').encode(), 'r+b')":                                          false,
		"os.open(O + '/old', os.O_WRONLY | os.O_TRUNC)":                               false,
		"os.remove(O + '/old')":                                                       false,
		"os.rename(O + '/old', V + '/old')":                                           false,
		"os.replace(V + '/pyvenv.cfg', O + '/new')":                                   false,
		"os.link(V + '/pyvenv.cfg', O + '/new')":                                      false,
		"os.symlink(V + '/pyvenv.cfg', O + '/new')":                                   false,
		"os.mkdir(O + '/new')":                                                        false,
		"os.rmdir(O + '/d')":                                                          false,
		"os.chmod(O + '/old', 0o777)":                                                 false,
		"os.system('true')":                                                           false,
		"import shutil; os.makedirs(T + '/a/b'); shutil.rmtree(T + '/a')":             true,
		"os.remove('old', dir_fd=os.open(O, os.O_RDONLY))":                            false,
		"os.rename('own', 'new', src_dir_fd=os.open(V, 0), dst_dir_fd=os.open(O, 0))": false,
	} {
		prefix := fmt.Sprintf("import os, os.path; V, T, O = %q, %q, %q\n", venv, tmp, outside)
		cmd := exec.Command(filepath.Join(venv, "bin", "python"), "-c", prefix+code)
		home := filepath.Join(dir, "home")
		if err := os.MkdirAll(filepath.Join(home, ".cache"), 0o700); err != nil {
			t.Fatal(err)
		}
		cmd.Env = append(os.Environ(), "PYTHONPATH="+guarded, "HOME="+home, "PIP_CACHE_DIR=", "XDG_CACHE_HOME=")
		said, err := cmd.CombinedOutput()
		if refused := strings.Contains(string(said), "is not installed"); refused == allowed || (err == nil) != allowed {
			t.Errorf("%s: %v %s", code, err, said)
		}
	}
	if text, err := os.ReadFile(filepath.Join(outside, "old")); err != nil || string(text) != "kept" {
		t.Errorf("the user's file has %q, %v", text, err)
	}
}

// TestOtherPythons: a package for a newer Python is installed with one of the machine's, as uvx does.
func TestOtherPythons(t *testing.T) {
	index, bin := t.TempDir(), t.TempDir()
	wheel(t, index, "honest", "honest-cli")
	indexOf(t, index)
	real, err := exec.Command("python3", "-c", "import sys; print(sys.executable)").Output()
	if err != nil {
		t.Fatal(err)
	}
	python := strings.TrimSpace(string(real))
	old := "#!/bin/sh\n[ \"$2\" = venv ] && exec " + python + " \"$@\"\necho 'ERROR: Ignored the following versions that require a different python version: 1.0 Requires-Python >=3.98'\nexit 1\n"
	for name, text := range map[string]string{"python3": old, "python3.98": "#!/bin/sh\nexit 1\n", "python3.99": "#!/bin/sh\nexec " + python + " \"$@\"\n", "python3.99-config": "", "python3.6": ""} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin+":/usr/bin:/bin")
	all := otherPythons()
	if at := slices.Index(all, filepath.Join(bin, "python3.98")); at < 0 || at+1 >= len(all) || all[at+1] != filepath.Join(bin, "python3.99") || slices.Contains(all, filepath.Join(bin, "python3.6")) {
		t.Fatalf("%q", all)
	}
	i, err := Package{Registry: PyPI, Name: "honest"}.Install(t.Context(), filepath.Join(t.TempDir(), "x"))
	if err != nil || i.Report.Version != "1.0" {
		t.Errorf("%+v, %v", i.Report, err)
	}
	if err := os.Remove(filepath.Join(bin, "python3.99")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin)
	if _, err := (Package{Registry: PyPI, Name: "honest"}).Install(t.Context(), filepath.Join(t.TempDir(), "y")); !errors.Is(err, errOtherPython) {
		t.Errorf("%v", err)
	}
}

// TestAA3WheelsDoNotReachPipsCache: what lies there, pip installs or reads for other packages later.
func TestAA3WheelsDoNotReachPipsCache(t *testing.T) {
	index, cache := t.TempDir(), t.TempDir()
	victim := filepath.Join(cache, "wheels", "ab", "other-1.0-py3-none-any.whl")
	if err := os.MkdirAll(filepath.Dir(victim), 0o700); err != nil {
		t.Fatal(err)
	}
	wheel(t, index, "hostile", victim)
	indexOf(t, index)
	t.Setenv("PIP_CACHE_DIR", cache)
	_, err := Package{Registry: PyPI, Name: "hostile"}.Install(t.Context(), filepath.Join(t.TempDir(), "hostile"))
	if text, read := os.ReadFile(victim); read == nil {
		t.Errorf("the package has written into the cache: %q", text)
	}
	t.Log(err)
}
