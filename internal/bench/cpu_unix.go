//go:build unix

package main

import (
	"os"
	"runtime"
	"syscall"
	"time"
)

// cpuTime is what this process has used, in user and system mode.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// mostMemory is the most resident memory that a process had which has ended, in MiB.
func mostMemory(p *os.ProcessState) float64 {
	u, ok := p.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	unit := 1 << 10
	if runtime.GOOS == "darwin" {
		unit = 1
	}
	return float64(u.Maxrss) * float64(unit) / (1 << 20)
}
