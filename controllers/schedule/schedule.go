// Package schedule computes when spec.schedule makes the next audit due. It is pure: equal
// schedule, UID and last audit give the same instant, in whole seconds. controllers/trigger
// uses it.
//
// A fire is an instant named by the schedule; an audit is due later by the jitter of its UID.
// However many fires have passed since the last audit, only one audit becomes due, as only the
// first is looked for.
//
// Cron uses the wall clock of its time zone. When clocks go forward, fires in the skipped hour
// happen at its end. When they go back, the repeated hour counts once, except for schedules
// that fire every hour, which fire in both.
package schedule

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

// ErrInvalid means that the schedule can never be followed. The message names the field and the
// fix.
var ErrInvalid = errors.New("invalid schedule")

// The jitter is this fraction of the period, up to a maximum.
const (
	jitterPart = 10
	maxJitter  = 10 * time.Minute
)

// minInterval is the CRD's minimum.
const minInterval = 5 * time.Minute

// Schedule is a parsed spec.schedule.
type Schedule struct {
	interval time.Duration // 0 for cron
	wall     *cron.SpecSchedule
	zone     *time.Location
}

// Parse parses a schedule. Every error is ErrInvalid.
func Parse(spec v1alpha1.Schedule) (Schedule, error) {
	if spec.Cron == "" {
		if spec.Interval == nil || spec.Interval.Duration < minInterval {
			return Schedule{}, refuse("spec.schedule needs either cron, or an interval of at least %s", minInterval)
		}
		return Schedule{interval: spec.Interval.Duration}, nil
	}
	zone, err := location(spec.TimeZone)
	if err != nil {
		return Schedule{}, err
	}
	wall, err := expression(spec.Cron)
	if err != nil {
		return Schedule{}, err
	}
	return Schedule{wall: wall, zone: zone}, nil
}

// location returns a time zone other than "Local": the manager's means nothing to users.
func location(name string) (*time.Location, error) {
	if name == "Local" {
		return nil, refuse(`spec.schedule.timeZone must not be Local: name a zone of the IANA database, such as "Europe/Berlin"`)
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, refuse(`spec.schedule.timeZone %q is not in the IANA database: name a zone such as "Europe/Berlin", or leave it out for UTC`, name)
	}
	return zone, nil
}

// descriptors lists the documented ones.
var descriptors = []string{"@hourly", "@daily", "@weekly", "@monthly", "@yearly"}

// leapYear precedes a year that has every date of the calendar.
var leapYear = time.Date(1999, 12, 31, 23, 59, 59, 0, time.UTC)

// expression parses a cron expression in UTC, which stands for the wall clock of any zone: the
// parser itself skips the hour when clocks go forward.
func expression(text string) (*cron.SpecSchedule, error) {
	trimmed := strings.TrimSpace(text)
	if strings.HasPrefix(trimmed, "@") && !slices.Contains(descriptors, trimmed) {
		return nil, refuse("spec.schedule.cron %q is none of %s: use one of them, five fields, or spec.schedule.interval", text, strings.Join(descriptors, ", "))
	}
	if strings.Contains(trimmed, "=") { // TZ= and CRON_TZ=, on which the parser panics if they stand alone
		return nil, refuse("spec.schedule.cron %q must not have a time zone: set spec.schedule.timeZone", text)
	}
	parsed, err := cron.ParseStandard(trimmed)
	if err != nil {
		return nil, refuse(`spec.schedule.cron %q must have five fields (minute, hour, day of month, month, day of week), such as "0 3 * * *": %s`, text, err)
	}
	wall, ok := parsed.(*cron.SpecSchedule)
	if !ok {
		return nil, refuse(`spec.schedule.cron %q must have five fields, such as "0 3 * * *"`, text)
	}
	wall.Location = time.UTC
	const star = 1 << 63 // the parser's flag beside the values
	for _, field := range []uint64{wall.Minute, wall.Hour, wall.Dom, wall.Month, wall.Dow} {
		if field&^star == 0 {
			return nil, refuse("spec.schedule.cron %q has a field without a value: correct it", text)
		}
	}
	if wall.Next(leapYear).IsZero() {
		return nil, refuse("spec.schedule.cron %q never fires, for no month that it names has such a day: correct the day of month or the month", text)
	}
	return wall, nil
}

func refuse(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrInvalid}, args...)...)
}

// Next returns when the audit after the last one is due; zero if the API cannot represent it.
// It is always after last.
func (s Schedule) Next(last time.Time, uid types.UID) time.Time {
	last = last.UTC().Truncate(time.Second)
	var due time.Time
	if s.interval > 0 {
		due = last.Add(s.interval + jitter(s.interval, uid)).Truncate(time.Second)
	} else {
		fire := s.fire(last)
		period := s.fire(fire).Sub(fire)
		due = fire.Add(jitter(period, uid))
	}
	if due.Year() > 9999 || !due.After(last) { // RFC 3339 and time.Time end
		return time.Time{}
	}
	return due
}

// fire returns the first fire after an instant; zero if there is none.
func (s Schedule) fire(after time.Time) time.Time {
	if s.everyHour() {
		return s.running(after.In(s.zone))
	}
	wall := onWall(after.In(s.zone))
	for {
		wall = next(s.wall, wall)
		if fire := instant(wall, s.zone); fire.After(after) || wall.IsZero() {
			return fire
		}
	}
}

func (s Schedule) everyHour() bool {
	const all = 1<<24 - 1
	return s.wall.Hour&all == all
}

// running returns the first fire of a steadily running clock: between two clock changes, wall
// time and instant differ by a constant.
func (s Schedule) running(after time.Time) time.Time {
	wall := onWall(after)
	for {
		_, offset := after.Zone()
		_, end := after.ZoneBounds()
		found := next(s.wall, wall)
		fire := found.Add(-time.Duration(offset) * time.Second)
		if found.IsZero() || end.IsZero() || fire.Before(end) {
			return fire
		}
		after = end.In(s.zone)
		wall = onWall(after).Add(-time.Second)
	}
}

// searched is the number of years that the parser looks ahead. The 29th of February may be 8 years away.
const searched = 5

func next(wall *cron.SpecSchedule, after time.Time) time.Time {
	if found := wall.Next(after); !found.IsZero() {
		return found
	}
	return wall.Next(time.Date(after.Year()+searched, 12, 31, 23, 59, 59, 0, time.UTC))
}

// onWall returns the wall clock time of an instant's zone, as UTC.
func onWall(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), 0, time.UTC)
}

// instant returns when a wall clock first shows a time or skips it.
func instant(wall time.Time, zone *time.Location) time.Time {
	guess := time.Date(wall.Year(), wall.Month(), wall.Day(), wall.Hour(), wall.Minute(), wall.Second(), 0, zone)
	begin, end := guess.ZoneBounds()
	switch shown := onWall(guess); {
	case shown.Before(wall): // before the gap with the time
		return end.UTC()
	case shown.After(wall): // after it
		return begin.UTC()
	}
	if !begin.IsZero() {
		_, offset := begin.Add(-time.Second).Zone()
		if earlier := wall.Add(-time.Duration(offset) * time.Second); earlier.Before(begin) {
			return earlier
		}
	}
	return guess.UTC()
}

// jitter returns the delay of an audit after its fire, in whole seconds.
func jitter(period time.Duration, uid types.UID) time.Duration {
	span := min(max(period, 0)/jitterPart, maxJitter)
	return time.Duration(Fraction(uid, "schedule") * float64(span)).Truncate(time.Second)
}

// Fraction returns a number in [0, 1), derived from a UID and a purpose and spread evenly over
// the UIDs. Different purposes are independent.
func Fraction(uid types.UID, purpose string) float64 {
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(purpose + "\n" + string(uid)))
	sum := hash.Sum64()
	// FNV mixes its upper bits badly in the end; see the finalizer of MurmurHash3.
	sum ^= sum >> 33
	sum *= 0xff51afd7ed558ccd
	sum ^= sum >> 33
	return float64(sum>>11) / math.Exp2(53)
}
