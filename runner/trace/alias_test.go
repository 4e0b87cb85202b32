package trace

import "testing"

// TestAliasAndSeek: names below a link to the home become names below the home, and a look-up of a program is OpSeek.
func TestAliasAndSeek(t *testing.T) {
	var got []Event
	d := newDecoder(Config{Home: "/root", Alias: "/home/julia"}, func(e Event) { got = append(got, e) })
	for _, line := range []string{
		begin,
		`5 2.000000 openat(AT_FDCWD</srv>, "/home/julia/.ssh/id_rsa", O_RDONLY) = -1 ENOENT (No such file or directory) <0.000001>`,
		`5 2.000000 rename("/home/julia/a", "/home/julia2/b") = 0 <0.000001>`,
		`5 2.000000 access("/usr/bin/docker", X_OK) = -1 ENOENT (No such file or directory) <0.000001>`,
		`5 2.000000 access("/usr/lib/docker", X_OK) = -1 ENOENT (No such file or directory) <0.000001>`,
	} {
		d.feed([]byte(line))
	}
	if got = got[len(got)-3:]; got[0].Path != "/root/.ssh/id_rsa" || got[1].Path != "/root/a" || got[1].Target != "/home/julia2/b" {
		t.Errorf("%+v", got[:2])
	}
	if got[2].Op != OpSeek || got[2].Path != "/usr/bin/docker" || got[2].Errno != "ENOENT" {
		t.Errorf("%+v", got[2])
	}
}
