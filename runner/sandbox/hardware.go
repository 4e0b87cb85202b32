package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// dmi has the files that describe a laptop (Documentation/ABI/testing/sysfs-class-dmi).
var dmi = map[string]string{
	"sys_vendor": "LENOVO", "board_vendor": "LENOVO", "chassis_vendor": "LENOVO", "bios_vendor": "LENOVO", "chassis_type": "10",
	"product_name": "21AH00BSGE", "product_version": "ThinkPad T14 Gen 3", "product_family": "ThinkPad T14 Gen 3",
	"board_name": "21AH00BSGE", "bios_version": "N3MET17W (1.16 )", "bios_date": "09/26/2023",
}

// laptop has the files of a laptop's devices by class (Documentation/ABI/testing/sysfs-class-*). A name that ends with
// a slash is an empty directory.
var laptop = map[string]map[string]string{
	"power_supply": {
		"AC/type": "Mains", "AC/online": "1",
		"BAT0/type": "Battery", "BAT0/present": "1", "BAT0/status": "Not charging", "BAT0/capacity": "80", "BAT0/technology": "Li-poly",
		"BAT0/manufacturer": "SMP", "BAT0/model_name": "5B10W51869", "BAT0/cycle_count": "211",
		"BAT0/energy_full_design": "57000000", "BAT0/energy_full": "51230000", "BAT0/energy_now": "40980000", "BAT0/voltage_now": "16910000",
	},
	"net": {
		"lo/address": "00:00:00:00:00:00", "lo/operstate": "unknown", "lo/type": "772", "lo/mtu": "65536", "lo/ifindex": "1",
		ownInterface + "/address": ownHardware, ownInterface + "/operstate": "up", ownInterface + "/type": "1", ownInterface + "/mtu": "1500",
		ownInterface + "/ifindex": "2", ownInterface + "/carrier": "1", ownInterface + "/uevent": "DEVTYPE=wlan\nINTERFACE=" + ownInterface + "\nIFINDEX=2",
		ownInterface + "/wireless/": "", ownInterface + "/phy80211/name": "phy0",
		ownInterface + "/statistics/rx_bytes": "4829117203", ownInterface + "/statistics/tx_bytes": "611803394",
	},
	"backlight": {"intel_backlight/brightness": "7500", "intel_backlight/max_brightness": "19200", "intel_backlight/type": "raw"},
	"bluetooth": {"hci0/type": "primary"},
}

// hardware makes the server's machine look like a laptop. The classes that a laptop has not of its own stay.
func (r *root) hardware() error {
	files := map[string]string{}
	for name, text := range dmi {
		files["dmi/id/"+name] = text
	}
	for class, of := range laptop {
		for name, text := range of {
			files[class+"/"+name] = text
		}
	}
	if err := r.devise("/sys/class", files); err != nil {
		return err
	}
	return r.devise("/sys/devices/virtual/dmi/id", dmi)
}

// devise covers a directory of /sys, if there is one, by files of ours. Of what was there it keeps the links in
// directories without such a file: they are relative, and lead to the machine's devices.
func (r *root) devise(dir string, files map[string]string) error {
	at := r.at(dir)
	classes, err := os.ReadDir(at)
	if err != nil {
		return nil //nolint:nilerr // a machine without it
	}
	links := linksIn(at, classes)
	if err := unix.Mount("tmpfs", at, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "size=4m,mode=0755"); err != nil {
		return fmt.Errorf("cover %s: %w", dir, err)
	}
	for name, target := range links {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(at, name)), 0o755); err != nil {
			return err
		}
		if err := os.Symlink(target, filepath.Join(at, name)); err != nil {
			return err
		}
	}
	for name, text := range files {
		if err := writeAttribute(filepath.Join(at, name), text, strings.HasSuffix(name, "/")); err != nil {
			return err
		}
	}
	if err := unix.Mount("", at, "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("protect %s: %w", dir, err)
	}
	return nil
}

// linksIn returns the links to devices in the classes that a laptop does not have of its own, by their paths.
func linksIn(at string, classes []os.DirEntry) map[string]string {
	links := map[string]string{}
	for _, class := range classes {
		if _, ours := laptop[class.Name()]; ours || class.Name() == "dmi" || !class.IsDir() {
			continue
		}
		devices, _ := os.ReadDir(filepath.Join(at, class.Name())) // the server could not read it, either
		for _, device := range devices {
			name := filepath.Join(class.Name(), device.Name())
			if target, err := os.Readlink(filepath.Join(at, name)); err == nil {
				links[name] = target
			}
		}
	}
	return links
}

// writeAttribute makes a file of /sys, or an empty directory.
func writeAttribute(file, text string, dir bool) error {
	if dir {
		return os.MkdirAll(file, 0o755)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(text+"\n"), 0o444)
}
