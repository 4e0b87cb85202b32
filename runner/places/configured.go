package places

import (
	"path"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/words"
)

// scripted are programs whose configuration names what they run, or that load files from their directories:
// debuggers, pagers, editors, terminals, mail, desktops, and tools for files, clusters and versions.
var scripted = words.SetOf(strings.Fields(`
		gdb lldb rr valgrind strace ripgrep bat fzf delta less most lesskey mc nano micro joe jed vis kate geany lite-xl textadept
		blender libreoffice gimp inkscape krita darktable scribus freecad obs-studio vlc kodi mpd ncmpcpp cmus yt-dlp youtube-dl aria2 calibre
		thunderbird evolution claws-mail aerc neomutt alot offlineimap isync newsboat irssi weechat hexchat profanity rtorrent qbittorrent deluge
		rclone restic borg syncthing httpie pgcli mycli litecli visidata k9s helm lazydocker minikube vagrant.d pulumi terraform.d packer.d
		nix nixpkgs home-manager guix chezmoi yadm tig gitui jj subversion bazaar meld screen byobu foot terminator tilix konsole guake urxvt rio
		hyper warp-terminal autokey espanso sxhkd xbindkeys dunst mako swaync eww conky picom redshift gammastep swayidle hypridle xscreensaver
		feh sxiv imv zathura nautilus nemo thunar caja pcmanfm krusader vifm nnn broot joshuto xplr navi gnuplot maxima sage spyder jetbrains
		gnome-shell plasma kwin cinnamon mate xmonad dwm qtile herbstluftwm fluxbox icewm enlightenment lxsession labwc river niri wayfire
		mozilla librewolf elvish oil murex virtualenvs ptpython irb pry opam stack cabal lein clojure rebar3 mix octave scilab texmf`)...)

// configuredProgram returns the program of that table to whose configuration a path belongs, by convention: .NAMErc,
// .NAME, .NAME/ and, in the XDG base directories, .config/NAME/ and .local/share/NAME/; "" for none.
func configuredProgram(name string) string {
	_, hidden, found := strings.Cut(name, "/.")
	if !found {
		return ""
	}
	for _, shelf := range []string{"config/", "local/share/"} {
		if below, ok := strings.CutPrefix(hidden, shelf); ok {
			if program, _, inside := strings.Cut(strings.ToLower(below), "/"); inside && scripted[program] {
				return program
			}
			return ""
		}
	}
	first, _, inside := strings.Cut(strings.ToLower(hidden), "/")
	if !inside {
		first = strings.TrimSuffix(strings.TrimSuffix(first, path.Ext(first)), "rc")
	}
	if scripted[first] {
		return first
	}
	return ""
}
