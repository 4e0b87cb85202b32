package schedule_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/schedule"
)

func every(interval time.Duration) v1alpha1.Schedule {
	return v1alpha1.Schedule{Interval: &metav1.Duration{Duration: interval}}
}

func parse(t *testing.T, spec v1alpha1.Schedule) schedule.Schedule {
	t.Helper()
	parsed, err := schedule.Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

func at(t *testing.T, text string) time.Time {
	t.Helper()
	parsed, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// prompt is a UID of next to no jitter, so that fires can be read off.
var prompt = func() types.UID {
	for i := 0; ; i++ {
		if uid := types.UID(fmt.Sprint(i)); schedule.Fraction(uid, "schedule") < 0.001 {
			return uid
		}
	}
}()

func TestNextOfCron(t *testing.T) {
	const berlin = "Europe/Berlin" // +1, +2 from 2026-03-29T01:00Z to 2026-10-25T01:00Z
	for _, test := range []struct {
		name, cron, zone, last, want string
	}{
		{"later that day", "30 14 * * *", "", "2026-01-02T12:00:00Z", "2026-01-02T14:30:00Z"},
		{"the next day", "30 11 * * *", "", "2026-01-02T12:00:00Z", "2026-01-03T11:30:00Z"},
		{"at the fire itself", "0 12 * * *", "", "2026-01-02T12:00:00Z", "2026-01-03T12:00:00Z"},
		{"a fraction of a second before", "0 12 * * *", "", "2026-01-02T11:59:59.9Z", "2026-01-02T12:00:00Z"},
		{"hourly", "@hourly", "", "2026-01-02T12:00:01Z", "2026-01-02T13:00:00Z"},
		{"weekly", "@weekly", "", "2026-01-02T12:00:00Z", "2026-01-04T00:00:00Z"},
		{"names", "0 3 * JUL mon-fri", "", "2026-01-02T12:00:00Z", "2026-07-01T03:00:00Z"},
		{"day of month or of week", "0 3 13 * fri", "", "2026-01-02T12:00:00Z", "2026-01-09T03:00:00Z"},
		{"in a zone", "0 3 * * *", berlin, "2026-01-02T12:00:00Z", "2026-01-03T02:00:00Z"},
		{"in a zone, in summer", "0 3 * * *", berlin, "2026-07-02T12:00:00Z", "2026-07-03T01:00:00Z"},
		{"in a zone of half an hour", "0 3 * * *", "Asia/Kolkata", "2026-01-02T12:00:00Z", "2026-01-02T21:30:00Z"},

		{"before the gap", "30 2 * * *", berlin, "2026-03-28T00:00:00Z", "2026-03-28T01:30:00Z"},
		{"in the gap, at its end", "30 2 * * *", berlin, "2026-03-28T01:30:00Z", "2026-03-29T01:00:00Z"},
		{"after the gap", "30 2 * * *", berlin, "2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z"},
		{"twice in the gap, once at its end", "0,30 2 * * *", berlin, "2026-03-29T01:00:00Z", "2026-03-30T00:00:00Z"},
		{"every hour, over the gap", "0 * * * *", berlin, "2026-03-29T00:00:00Z", "2026-03-29T01:00:00Z"},
		{"midnight in a gap", "0 0 * * *", "America/Santiago", "2026-09-05T12:00:00Z", "2026-09-06T04:00:00Z"},
		{"a day that a zone left out", "0 12 30 12 *", "Pacific/Apia", "2011-12-29T00:00:00Z", "2011-12-30T10:00:00Z"},

		{"what comes twice, first", "30 2 * * *", berlin, "2026-10-24T12:00:00Z", "2026-10-25T00:30:00Z"},
		{"what comes twice, not again", "30 2 * * *", berlin, "2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"},
		{"asked while it comes again", "30 2 * * *", berlin, "2026-10-25T01:10:00Z", "2026-10-26T01:30:00Z"},
		{"every hour, in the first", "0 * * * *", berlin, "2026-10-24T23:30:00Z", "2026-10-25T00:00:00Z"},
		{"every hour, in the second", "0 * * * *", berlin, "2026-10-25T00:00:00Z", "2026-10-25T01:00:00Z"},
		{"half an hour comes twice", "45 1 * * *", "Australia/Lord_Howe", "2026-04-04T00:00:00Z", "2026-04-04T14:45:00Z"},

		{"the 29th of February", "0 0 29 2 *", "", "2026-01-02T12:00:00Z", "2028-02-29T00:00:00Z"},
		{"the 29th of February, around 2100", "0 0 29 2 *", "", "2096-02-29T00:00:00Z", "2104-02-29T00:00:00Z"},
		{"a clock before the epoch", "0 0 * * *", "", "0001-01-01T00:00:00Z", "0001-01-02T00:00:00Z"},
		{"the last day there is", "0 0 * * *", "", "9999-12-30T00:00:00Z", "9999-12-31T00:00:00Z"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := parse(t, v1alpha1.Schedule{Cron: test.cron, TimeZone: test.zone})
			want := at(t, test.want)
			got := s.Next(at(t, test.last), prompt)
			if late := got.Sub(want); late < 0 || late > maxLate {
				t.Errorf("Next = %s, want %s", got, want)
			}
		})
	}
}

// maxLate is the jitter of prompt for long periods.
const maxLate = time.Second

func TestNextOfInterval(t *testing.T) {
	last := time.Date(2026, 1, 2, 12, 0, 0, 999, time.UTC)
	for _, interval := range []time.Duration{5 * time.Minute, time.Hour, 8760 * time.Hour} {
		got := parse(t, every(interval)).Next(last, prompt)
		if late := got.Sub(last.Truncate(time.Second).Add(interval)); late < 0 || late > maxLate {
			t.Errorf("after %s: %s, %s too late", interval, got, late)
		}
	}
}

func TestNextEnds(t *testing.T) {
	end := time.Date(9999, 12, 31, 12, 0, 0, 0, time.UTC)
	for name, spec := range map[string]v1alpha1.Schedule{"cron": {Cron: "0 0 * * *"}, "interval": every(24 * time.Hour)} {
		for _, last := range []time.Time{end, end.AddDate(1_000_000, 0, 0), time.Unix(math.MaxInt64/2, 0)} {
			if got := parse(t, spec).Next(last, "a"); !got.IsZero() {
				t.Errorf("%s: after %s comes %s, which the API cannot hold", name, last, got)
			}
		}
	}
}

// TestMissedRunsAreMadeUpForOnce plays a manager that was away: when it is back one
// audit is due, and the one after that is in the future.
func TestMissedRunsAreMadeUpForOnce(t *testing.T) {
	back := at(t, "2026-01-10T12:00:00Z")
	for name, spec := range map[string]v1alpha1.Schedule{"cron": {Cron: "*/15 * * * *"}, "interval": every(time.Hour)} {
		s := parse(t, spec)
		if due := s.Next(back.AddDate(0, 0, -5), "a"); due.After(back) {
			t.Errorf("%s: nothing is due before %s", name, due)
		}
		if due := s.Next(back, "a"); !due.After(back) {
			t.Errorf("%s: after it was made up for, %s is due again", name, due)
		}
	}
}

func TestJitter(t *testing.T) {
	last := at(t, "2026-01-02T12:00:00Z")
	for _, test := range []struct {
		name string
		spec v1alpha1.Schedule
		fire time.Time
		most time.Duration
	}{
		{"a tenth of an hour", v1alpha1.Schedule{Cron: "0 * * * *"}, last.Add(time.Hour), 6 * time.Minute},
		{"at most ten minutes", v1alpha1.Schedule{Cron: "0 12 * * *"}, last.AddDate(0, 0, 1), 10 * time.Minute},
		// The period is what follows the fire, which has to be over by the next one.
		{"uneven", v1alpha1.Schedule{Cron: "0,10 13 * * *"}, last.Add(time.Hour), time.Minute},
		{"a tenth of an interval", every(20 * time.Minute), last.Add(20 * time.Minute), 2 * time.Minute},
		{"of a long interval", every(8760 * time.Hour), last.Add(8760 * time.Hour), 10 * time.Minute},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := parse(t, test.spec)
			const uids, parts = 2000, 10
			var spread [parts]int
			for i := range uids {
				uid := types.UID(fmt.Sprintf("7d6d0f3e-%04d-4c5b-9f3c-0123456789ab", i))
				due := s.Next(last, uid)
				late := due.Sub(test.fire)
				if late < 0 || late >= test.most {
					t.Fatalf("%s is %s late, the most is %s", due, late, test.most)
				}
				if again := s.Next(last, uid); !again.Equal(due) || due.Nanosecond() != 0 || due.Location() != time.UTC {
					t.Fatalf("%s, then %s: not stable", due, again)
				}
				spread[late*parts/test.most]++
			}
			for part, n := range spread {
				if n < uids/parts*3/4 || n > uids/parts*5/4 {
					t.Errorf("part %d of the jitter has %d of %d audits: %v", part, n, uids, spread)
				}
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	for _, test := range []struct {
		name string
		spec v1alpha1.Schedule
		says string
	}{
		{"nothing", v1alpha1.Schedule{}, "needs either cron, or an interval"},
		{"too often", every(time.Minute), "at least 5m0s"},
		{"backwards", every(-time.Hour), "at least 5m0s"},
		{"a day that is in no month", v1alpha1.Schedule{Cron: "0 0 30 2 *"}, "never fires"},
		{"a 31st in short months", v1alpha1.Schedule{Cron: "0 0 31 4,6,9,11 *"}, "never fires"},
		{"a day that is in no month, in every hour", v1alpha1.Schedule{Cron: "* * 30 feb *", TimeZone: "Europe/Berlin"}, "never fires"},
		{"six fields", v1alpha1.Schedule{Cron: "0 0 3 * * *"}, "five fields (minute, hour"},
		{"blank", v1alpha1.Schedule{Cron: " "}, "must have five fields"},
		{"minute 60", v1alpha1.Schedule{Cron: "60 * * * *"}, "above maximum (59)"},
		{"a step of none", v1alpha1.Schedule{Cron: "*/0 * * * *"}, "positive number"},
		{"a field of commas", v1alpha1.Schedule{Cron: "0 , * * *"}, "a field without a value"},
		{"every", v1alpha1.Schedule{Cron: "@every 5m"}, "@hourly, @daily, @weekly, @monthly, @yearly"},
		{"reboot", v1alpha1.Schedule{Cron: "@reboot"}, "is none of @hourly"},
		{"a zone inside", v1alpha1.Schedule{Cron: "TZ=Europe/Berlin 0 3 * * *"}, "set spec.schedule.timeZone"},
		{"a zone inside, in full", v1alpha1.Schedule{Cron: "CRON_TZ=UTC 0 3 * * *"}, "set spec.schedule.timeZone"},
		{"a zone alone", v1alpha1.Schedule{Cron: "TZ=0"}, "set spec.schedule.timeZone"},
		{"a zone that is none", v1alpha1.Schedule{Cron: "@daily", TimeZone: "Europe/Atlantis"}, `spec.schedule.timeZone "Europe/Atlantis" is not`},
		{"a zone that is a path", v1alpha1.Schedule{Cron: "@daily", TimeZone: "../../etc/passwd"}, "is not in the IANA database"},
		{"the zone of the manager", v1alpha1.Schedule{Cron: "@daily", TimeZone: "Local"}, "must not be Local"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := schedule.Parse(test.spec)
			if !errors.Is(err, schedule.ErrInvalid) || !strings.Contains(err.Error(), test.says) {
				t.Errorf("Parse = %v, want it to say %q", err, test.says)
			}
			if err != nil && !strings.Contains(err.Error(), "spec.schedule") {
				t.Errorf("%v does not name the field", err)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	for _, cron := range []string{"0 3 * * *", "@daily", "*/7 1-5/2,9 ? jan,2 SUN", "TZ=0", "0 0 30 2 *", ", , , , ,", "0 0 29 2 *"} {
		for _, zone := range []string{"", "Europe/Berlin", "Pacific/Apia", "Local"} {
			f.Add(cron, zone, int64(1_790_000_000))
		}
	}
	f.Fuzz(func(t *testing.T, cron, zone string, seconds int64) {
		s, err := schedule.Parse(v1alpha1.Schedule{Cron: cron, TimeZone: zone})
		if err != nil {
			if !errors.Is(err, schedule.ErrInvalid) {
				t.Errorf("Parse = %v", err)
			}
			return
		}
		last := time.Unix(seconds%250_000_000_000, 0) // up to the year 9892
		due := s.Next(last, prompt)
		if !due.After(last) {
			t.Fatalf("%q in %q: after %s comes %s", cron, zone, last, due)
		}
		if earlier := s.Next(last.Add(-time.Second), prompt); earlier.After(due) {
			t.Errorf("%q in %q: %s comes after %s, but %s a second before", cron, zone, due, last, earlier)
		}
	})
}
