package command

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// Installed returns the folder NAME-KEY of a cache. If it is missing, install fills a folder that
// is then renamed, so an existing one is complete. Of several concurrent processes, one installs
// and the others wait.
func Installed(cache, name, key string, install func(dir string) error) (string, error) {
	dir := filepath.Join(cache, name+"-"+key)
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	unlock, err := Lock(cache, name)
	if err != nil {
		return "", err
	}
	defer unlock()
	if _, err := os.Stat(dir); err == nil {
		return dir, nil // another process has installed it meanwhile
	}
	tmp, err := os.MkdirTemp(cache, ".install-")
	if err != nil {
		return "", fmt.Errorf("make a scratch folder: %w", err)
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	if err := install(tmp); err != nil {
		return "", err
	}
	if err := os.Rename(tmp, dir); err != nil {
		return "", fmt.Errorf("keep the installation: %w", err)
	}
	return dir, nil
}

// Lock locks the part NAME of a cache until unlock. The kernel releases the lock when the process
// ends.
func Lock(cache, name string) (unlock func(), err error) {
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return nil, fmt.Errorf("create the cache: %w", err)
	}
	file, err := os.OpenFile(filepath.Join(cache, "."+name+".lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock the cache: %w", err)
	}
	for {
		err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("lock the cache: %w", err)
	}
	return func() { _ = file.Close() }, nil
}

// Digest identifies the contents of files by 12 hexadecimal digits.
func Digest(files ...string) (string, error) {
	sum := sha256.New()
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		_, _ = fmt.Fprintf(sum, "%d\n%s", len(content), content) // a hash takes everything
	}
	return hex.EncodeToString(sum.Sum(nil))[:12], nil
}
