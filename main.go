// Command retrysafe tests whether HTTP endpoints survive being called twice.
package main

import (
	"os"

	"retrysafe/cmd"
)

// version is set by the release build.
var version = ""

func main() {
	os.Exit(cmd.Main(cmd.System(version), os.Args[1:]))
}
