package trace

import (
	"fmt"
	"strings"
	"testing"
)

// TestW6ManyLinks: a link is remembered however many others the server makes, or the change that a later name hides is counted.
func TestW6ManyLinks(t *testing.T) {
	var lines []string
	link := func(name, to string) {
		lines = append(lines, fmt.Sprintf(`5 2.000000 symlink("%s", "%s") = 0 <0.000001>`, to, name))
	}
	link("/tmp/l", "/home/u/.config")
	for i := range 3000 {
		link(fmt.Sprintf("/tmp/n%d", i), "/tmp/note")
	}
	lines = append(lines, `5 3.000000 rename("/tmp/x", "/tmp/l/autostart/x.desktop") = 0 <0.000001>`)
	events, stats := decodeLines(t, lines...)
	if last := events[len(events)-1]; !strings.Contains(last, `target="/home/u/.config/autostart/x.desktop"`) || stats.Unplaced != 0 {
		t.Errorf("%s, %d unplaced", last, stats.Unplaced)
	}
	long := strings.Repeat("/d", 1500)
	for i := range maxLinks / len(long) {
		link(fmt.Sprintf("%s%d", long, i), "/tmp/note")
	}
	if _, stats := decodeLines(t, lines...); stats.Unplaced == 0 {
		t.Error("links that are not remembered are not counted")
	}
}

func TestLinksMakeRoom(t *testing.T) {
	var l links
	long := strings.Repeat("d", 1<<10)
	for i := range maxLinks / (1 << 10) {
		l.put(fmt.Sprint(i), long)
	}
	if l.put("another", long) {
		t.Error("there is no bound")
	}
	if !l.put("1", "") || !l.put("2", "") || !l.put("another", long) || l.to["another"] != long {
		t.Error("links that are gone leave no room")
	}
}
