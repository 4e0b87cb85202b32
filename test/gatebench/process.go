package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
)

// process is the gate's process, another instance of this program.
type process struct {
	readiness
	command *exec.Cmd
	input   io.Closer
	output  *bufio.Reader
}

// startGate starts the gate and waits until it is ready.
func startGate(ctx context.Context, n, decisions int) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p := &process{command: exec.CommandContext(ctx, self, served, "-n", strconv.Itoa(n), "--decisions", strconv.Itoa(decisions))}
	p.command.Stderr = os.Stderr
	output, err := p.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.output = bufio.NewReader(output)
	if p.input, err = p.command.StdinPipe(); err != nil {
		return nil, err
	}
	if err := p.command.Start(); err != nil {
		return nil, fmt.Errorf("start the gate: %w", err)
	}
	if err := p.read(&p.readiness); err != nil {
		return nil, errors.Join(fmt.Errorf("start the gate: %w", err), p.input.Close(), p.command.Wait())
	}
	return p, nil
}

// read decodes the next line of output.
func (p *process) read(into any) error {
	line, err := p.output.ReadBytes('\n')
	if err != nil {
		return err
	}
	return json.Unmarshal(line, into)
}

// stop ends the process and returns its last output.
func (p *process) stop() (remains, error) {
	var left remains
	err := p.input.Close()
	err = errors.Join(err, p.read(&left), p.command.Wait())
	if err != nil {
		return left, fmt.Errorf("stop the gate: %w", err)
	}
	return left, nil
}
