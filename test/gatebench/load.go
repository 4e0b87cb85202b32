package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// limit bounds the time for creating one object repeatedly.
const limit = 3 * time.Second

// concurrent has the numbers of concurrent clients.
var concurrent = []int{1, 8}

// trip has the durations of creating an object, by team.
type trip struct {
	name    string
	clients int
	took    map[string]spread
	// admitted is set if the gate admits the object.
	admitted bool
	large    bool
}

// ratio returns the median in a team divided by that in plain.
func (t trip) ratio(team string) float64 {
	return float64(t.took[team].p50) / float64(t.took[plain].p50)
}

// spread summarises durations.
type spread struct{ p50, p99 time.Duration }

func spreadOf(all []time.Duration) spread {
	if len(all) == 0 {
		return spread{}
	}
	slices.Sort(all)
	return spread{all[len(all)/2], all[len(all)*99/100]}
}

// load creates each object in each team, rounds times by each client.
func (c *cluster) load(ctx context.Context, rounds int) ([]trip, error) {
	var trips []trip
	for _, clients := range concurrent {
		for _, o := range created() {
			if o.large && clients > 1 {
				continue // takes the API server seconds
			}
			t, err := c.measure(ctx, o, clients, o.fewer(rounds))
			if err != nil {
				return trips, err
			}
			trips = append(trips, t)
		}
		if err := c.clean(ctx); err != nil {
			return trips, fmt.Errorf("clean up: %w", err)
		}
	}
	return trips, nil
}

// measure lets clients create an object in the teams in turn.
func (c *cluster) measure(ctx context.Context, o object, clients, rounds int) (trip, error) {
	t := trip{name: o.name, clients: clients, took: map[string]spread{}, admitted: !o.denied, large: o.large}
	var mu sync.Mutex
	var problems []error
	times := map[string][]time.Duration{}
	var workers sync.WaitGroup
	for worker := range clients {
		workers.Go(func() {
			for i, end := 0, time.Now().Add(limit); i < rounds*len(teams) && (i < len(teams) || time.Now().Before(end)); i++ {
				team := teams[(i+worker)%len(teams)]
				begin := time.Now()
				err := c.create(ctx, o, team)
				took := time.Since(begin)
				if o.deniedIn(team) && apierrors.IsForbidden(err) {
					err = nil
				} else if o.deniedIn(team) {
					err = errors.Join(fmt.Errorf("create a %s in %s: not denied", o.name, team), err)
				}
				mu.Lock()
				times[team], problems = append(times[team], took), append(problems, err)
				mu.Unlock()
				if err != nil {
					return
				}
			}
		})
	}
	workers.Wait()
	for team, all := range times {
		t.took[team] = spreadOf(all)
	}
	return t, errors.Join(problems...)
}

// create posts the encoded object, so that encoding is not measured.
func (c *cluster) create(ctx context.Context, o object, team string) error {
	request := c.Clients.CoreV1().RESTClient().Post().AbsPath("/"+fmt.Sprintf(o.path, team)).
		SetHeader("Content-Type", "application/json").Body(o.body)
	if !o.stored {
		request = request.Param("dryRun", metav1.DryRunAll)
	}
	if err := request.Do(ctx).Error(); err != nil {
		return fmt.Errorf("create a %s in %s: %w", o.name, team, err)
	}
	return nil
}

// clean deletes the created objects.
func (c *cluster) clean(ctx context.Context) error {
	var problems []error
	for _, team := range teams {
		for _, kind := range []client.Object{&corev1.Pod{}, &appsv1.Deployment{}} {
			problems = append(problems, c.Client.DeleteAllOf(ctx, kind, client.InNamespace(team), client.GracePeriodSeconds(0)))
		}
	}
	return errors.Join(problems...)
}

func (t trip) title() string {
	return strings.TrimSpace(fmt.Sprintf("%s, %d at a time", t.name, t.clients))
}
