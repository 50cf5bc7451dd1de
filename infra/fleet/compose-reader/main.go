// Command compose-reader resolves a Compose file as `docker compose config` does, with the same library and the variables of
// its environment, and prints it as JSON. It prints the reason and exits with 1 if Compose would refuse the file.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/compose-spec/compose-go/v2/cli"
)

func main() {
	text, err := resolve(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Stdout.Write(text)
}

func resolve(paths []string) ([]byte, error) {
	options, err := cli.NewProjectOptions(paths, cli.WithOsEnv)
	if err != nil {
		return nil, err
	}
	project, err := options.LoadProject(context.Background())
	if err != nil {
		return nil, err
	}
	return project.MarshalJSON()
}
