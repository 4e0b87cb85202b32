package sources

import "testing"

// A program that counts is called as often as it counts to.
func TestCount(t *testing.T) {
	for program, want := range map[string]int{
		`const MOST = 1800; let calls = 0; function f() { calls++; if (calls > MOST) go(); }`: 1800,
		`if (++this.state.calls === 2_500) go()`:                                              2500,
		`state["n"] += 1; if (state["n"] >= 700) go()`:                                        700,
		`seen.push(x); if (seen.length > 900) go()`:                                           900,
		`n += 1; if (n % 1500 === 0) go()`:                                                    1500,
		`if (size > 4096 || args.text.length > 900) go()`:                                     0,
		`bytes += chunk.length; if (bytes > 1048576) stop()`:                                  0,
		`a + b > 300; + + 3; ++`:                                                              0,
		`if (port === 8080) go(); for (let i = 0; i < 6400; i++) step(i)`:                     0,
	} {
		var v Values
		v.AddProgram(program, false)
		if v.Count != want {
			t.Errorf("%s: %d, want %d", program, v.Count, want)
		}
	}
	var v Values
	v.AddProgram("self.calls += 1\nif self.calls == 2000: go()\nself.log.append(1)\nif len(self.log) > 2001: go()", true)
	if v.Count != 2001 {
		t.Errorf("Python: %d", v.Count)
	}
}
