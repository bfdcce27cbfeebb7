package main

import (
	"syscall"
	"time"
)

// sleep waits for d by the kernel's clock, in a thread of its own: a timer of the runtime comes up to a millisecond late in an
// idle process, so that delays drawn apart would end together.
func sleep(d time.Duration) {
	if d <= 0 {
		return
	}
	left := syscall.NsecToTimespec(d.Nanoseconds())
	for syscall.Nanosleep(&left, &left) == syscall.EINTR {
	}
}
