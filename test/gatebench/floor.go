package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/mcpaudit/mcpaudit/controllers/index"
	"github.com/mcpaudit/mcpaudit/controllers/offline"
)

// floor describes the part of the gate that the API server enforces itself.
type floor struct {
	// took is the duration of compiling; lists are the ConfigMaps, with bytes in total.
	took         time.Duration
	lists, bytes int
}

// compile replaces the lists by those for the verdicts of an index.
func (c *cluster) compile(ctx context.Context, store *index.Store) (floor, error) {
	begin := time.Now()
	compiled := offline.Compile(nil, clusterPolicies(), offline.World{Facts: store.Facts(begin), Verdicts: slices.Collect(store.All())})
	made := floor{took: time.Since(begin), lists: len(compiled.Lists)}
	for policy, problem := range compiled.Problems {
		return made, fmt.Errorf("compile policy %s: %s", policy.Name, problem)
	}
	for _, object := range c.kept {
		if err := c.Client.Delete(ctx, object); err != nil {
			return made, fmt.Errorf("delete list: %w", err)
		}
	}
	c.kept = nil
	for _, list := range compiled.Lists {
		for key, value := range list.Data {
			made.bytes += len(key) + len(value)
		}
		c.kept = append(c.kept, list)
	}
	for _, binding := range compiled.Bindings {
		c.kept = append(c.kept, binding)
	}
	for _, object := range c.kept {
		if err := c.Client.Create(ctx, object); err != nil {
			return made, fmt.Errorf("write list: %w", err)
		}
	}
	return made, nil
}

// await waits until the API server's watches have caught up: passing objects are created
// everywhere, failing ones in plain only, and the right part of the gate denies them.
func (c *cluster) await(ctx context.Context) error {
	const period, patience = 100 * time.Millisecond, 3 * time.Minute
	var last error
	err := wait.PollUntilContextTimeout(ctx, period, patience, true, func(ctx context.Context) (bool, error) {
		err := c.settled(ctx)
		if ctx.Err() == nil {
			last = err
		}
		return err == nil, nil
	})
	if err != nil {
		return fmt.Errorf("wait for the API server: %w: %w", err, last)
	}
	return nil
}

func (c *cluster) settled(ctx context.Context) error {
	by := map[string][]string{
		webhook: {"admission webhook"}, lists: {"ValidatingAdmissionPolicy"}, both: {"ValidatingAdmissionPolicy", "admission webhook"},
		strict: {"ValidatingAdmissionPolicy", "admission webhook"},
	}
	for _, team := range teams {
		for _, o := range created() {
			if o.large {
				continue
			}
			o.stored = false
			switch err := c.create(ctx, o, team); {
			case !o.denied || team == plain:
				if err != nil {
					return err
				}
			case !apierrors.IsForbidden(err):
				return errors.Join(fmt.Errorf("create a %s in %s: not denied", o.name, team), err)
			case !slices.ContainsFunc(by[team], func(part string) bool { return strings.Contains(err.Error(), part) }):
				return fmt.Errorf("create a %s in %s: denied by another part of the gate: %w", o.name, team, err)
			}
		}
	}
	return nil
}
