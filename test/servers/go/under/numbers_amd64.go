package main

import (
	"maps"

	"golang.org/x/sys/unix"
)

// The calls that newer architectures do without.
func init() {
	maps.Copy(untraced, map[string]uint32{
		"stat":            unix.SYS_STAT,
		"lstat":           unix.SYS_LSTAT,
		"poll":            unix.SYS_POLL,
		"access":          unix.SYS_ACCESS,
		"pipe":            unix.SYS_PIPE,
		"select":          unix.SYS_SELECT,
		"pause":           unix.SYS_PAUSE,
		"alarm":           unix.SYS_ALARM,
		"getdents":        unix.SYS_GETDENTS,
		"getpgrp":         unix.SYS_GETPGRP,
		"uselib":          unix.SYS_USELIB,
		"ustat":           unix.SYS_USTAT,
		"sysfs":           unix.SYS_SYSFS,
		"_sysctl":         unix.SYS__SYSCTL,
		"arch_prctl":      unix.SYS_ARCH_PRCTL,
		"create_module":   unix.SYS_CREATE_MODULE,
		"get_kernel_syms": unix.SYS_GET_KERNEL_SYMS,
		"query_module":    unix.SYS_QUERY_MODULE,
		"getpmsg":         unix.SYS_GETPMSG,
		"putpmsg":         unix.SYS_PUTPMSG,
		"afs_syscall":     unix.SYS_AFS_SYSCALL,
		"tuxcall":         unix.SYS_TUXCALL,
		"security":        unix.SYS_SECURITY,
		"time":            unix.SYS_TIME,
		"set_thread_area": unix.SYS_SET_THREAD_AREA,
		"get_thread_area": unix.SYS_GET_THREAD_AREA,
		"epoll_create":    unix.SYS_EPOLL_CREATE,
		"epoll_ctl_old":   unix.SYS_EPOLL_CTL_OLD,
		"epoll_wait_old":  unix.SYS_EPOLL_WAIT_OLD,
		"epoll_wait":      unix.SYS_EPOLL_WAIT,
		"vserver":         unix.SYS_VSERVER,
		"inotify_init":    unix.SYS_INOTIFY_INIT,
		"signalfd":        unix.SYS_SIGNALFD,
		"eventfd":         unix.SYS_EVENTFD,
		"uretprobe":       unix.SYS_URETPROBE,
		"uprobe":          unix.SYS_UPROBE,
	})
}
