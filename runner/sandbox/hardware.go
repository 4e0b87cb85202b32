package sandbox

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// laptop has the files of /sys on a laptop, by the directories that exist on every machine, or on those with DMI
// (Documentation/ABI/testing/sysfs-class-power, sysfs-class-dmi).
var laptop = map[string]map[string]string{
	"/sys/class/power_supply": {
		"AC/type": "Mains", "AC/online": "1",
		"BAT0/type": "Battery", "BAT0/present": "1", "BAT0/status": "Not charging", "BAT0/capacity": "80", "BAT0/technology": "Li-poly",
		"BAT0/manufacturer": "SMP", "BAT0/model_name": "5B10W51869", "BAT0/cycle_count": "211",
		"BAT0/energy_full_design": "57000000", "BAT0/energy_full": "51230000", "BAT0/energy_now": "40980000", "BAT0/voltage_now": "16910000",
	},
	"/sys/devices/virtual/dmi/id": {
		"sys_vendor": "LENOVO", "board_vendor": "LENOVO", "chassis_vendor": "LENOVO", "bios_vendor": "LENOVO", "chassis_type": "10",
		"product_name": "21AH00BSGE", "product_version": "ThinkPad T14 Gen 3", "product_family": "ThinkPad T14 Gen 3",
		"board_name": "21AH00BSGE", "bios_version": "N3MET17W (1.16 )", "bios_date": "09/26/2023",
	},
}

// hardware makes the server's machine look like a laptop, as far as the directories for that exist.
func (r *root) hardware() error {
	for dir, files := range laptop {
		at := r.at(dir)
		if _, err := os.Stat(at); err != nil {
			continue
		}
		if err := unix.Mount("tmpfs", at, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "size=1m,mode=0755"); err != nil {
			return fmt.Errorf("cover %s: %w", dir, err)
		}
		for name, text := range files {
			file := filepath.Join(at, name)
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(file, []byte(text+"\n"), 0o444); err != nil {
				return err
			}
		}
		if err := unix.Mount("", at, "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
			return fmt.Errorf("protect %s: %w", dir, err)
		}
	}
	return nil
}
