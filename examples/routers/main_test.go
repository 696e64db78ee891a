package main

import (
	"os"
	"testing"
)

// The tables of README.md are those of the results.
func TestREADME(t *testing.T) {
	made, err := tables("results")
	if err != nil {
		t.Fatal(err)
	}
	document, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	want, err := with(document, made)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != string(document) {
		t.Error("README.md has other tables: go run ./examples/routers -o examples/routers/README.md")
	}
}
