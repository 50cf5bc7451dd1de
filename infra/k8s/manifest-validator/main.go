// Command validator renders kustomizations and reports what an API server would refuse, without needing one.
//
//	validator <directory>…
//
// It prints a JSON array with the documents and the problems of each directory.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

type verdict struct {
	Directory string            `json:"directory"`
	Documents []json.RawMessage `json:"documents"`
	Problems  []problem         `json:"problems"`
}

type problem struct {
	Resource string `json:"resource"`
	Detail   string `json:"detail"`
}

func main() {
	verdicts := []verdict{}
	for _, directory := range os.Args[1:] {
		verdicts = append(verdicts, judge(directory))
	}
	if err := json.NewEncoder(os.Stdout).Encode(verdicts); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func judge(directory string) verdict {
	found := verdict{Directory: directory, Documents: []json.RawMessage{}, Problems: []problem{}}
	documents, err := render(directory)
	if err != nil {
		found.Problems = append(found.Problems, problem{Resource: "kustomization", Detail: err.Error()})
		return found
	}
	for _, document := range documents {
		found.Documents = append(found.Documents, document)
		found.Problems = append(found.Problems, refusals(document)...)
	}
	return found
}

func render(directory string) ([]json.RawMessage, error) {
	rendered, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), directory)
	if err != nil {
		return nil, err
	}
	documents := []json.RawMessage{}
	for _, resource := range rendered.Resources() {
		document, err := resource.MarshalJSON()
		if err != nil {
			return nil, err
		}
		documents = append(documents, document)
	}
	return documents, nil
}
