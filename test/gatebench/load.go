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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// limit is how long an object is created again and again; what is slow is created less
// often.
const limit = 3 * time.Second

// concurrent are the numbers of clients that create at a time.
var concurrent = []int{1, 8}

// trip holds how long round trips took: to create an object in each of the teams.
type trip struct {
	name    string
	clients int
	took    map[string]spread
	// admitted reports whether the gate admits it.
	admitted bool
	large    bool
}

// ratio is of the medians in a team and in plain.
func (t trip) ratio(team string) float64 {
	return float64(t.took[team].P50) / float64(t.took[plain].P50)
}

// spread sums durations up.
type spread struct{ P50, P99 time.Duration }

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
				continue // it takes seconds of the API server
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

// measure has clients create an object in one team after the other.
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
					err = errors.Join(fmt.Errorf("create a %s in %s: it is not denied", o.name, team), err)
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

// create makes a request of its own body, which the client has nothing to do with.
func (c *cluster) create(ctx context.Context, o object, team string) error {
	request := c.clients.CoreV1().RESTClient().Post().AbsPath("/"+fmt.Sprintf(o.path, team)).
		SetHeader("Content-Type", "application/json").Body(o.body)
	if !o.stored {
		request = request.Param("dryRun", metav1.DryRunAll)
	}
	if err := request.Do(ctx).Error(); err != nil {
		return fmt.Errorf("create a %s in %s: %w", o.name, team, err)
	}
	return nil
}

// clean deletes what was created.
func (c *cluster) clean(ctx context.Context) error {
	var problems []error
	for _, team := range teams {
		for _, kind := range []client.Object{&corev1.Pod{}, &appsv1.Deployment{}} {
			problems = append(problems, c.client.DeleteAllOf(ctx, kind, client.InNamespace(team), client.GracePeriodSeconds(0)))
		}
	}
	return errors.Join(problems...)
}

// title of a trip.
func (t trip) title() string {
	return strings.TrimSpace(fmt.Sprintf("%s, %d at a time", t.name, t.clients))
}
