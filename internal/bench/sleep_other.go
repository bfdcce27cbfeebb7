//go:build !linux

package main

import "time"

// sleep waits for d, up to a millisecond longer in an idle process.
func sleep(d time.Duration) { time.Sleep(d) }
