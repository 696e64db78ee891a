package rundir

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// The files of a run directory.
const (
	RunFile     = "run.json"
	RecordsFile = "records.jsonl"
	ReportFile  = "report.md"
	PageFile    = "report.html"
)

// Synced is how much of the other files was on the disk when run.json was written, in bytes. What is damaged beyond it was cut by a power
// failure.
type Synced struct {
	Records  int64 `json:"records_bytes"`
	Readings int64 `json:"readings_bytes,omitempty"`
	Canaries int64 `json:"canaries_bytes,omitempty"`
	Grades   int64 `json:"grades_bytes,omitempty"`
}

// RecordBytes returns how much of the records was on the disk; 0 for a run of an earlier version.
func (s *Synced) RecordBytes() int64 {
	if s == nil { // of an earlier version
		return 0
	}
	return s.Records
}

// Appended are the files that grow in a few writes while a run goes on, each of which is on the disk before the next begins.
func Appended() []string { return []string{ReadingsFile, CanariesFile, GradesFile} }

// BytesOf returns how much of one of the files that [Appended] names was on the disk.
func (s *Synced) BytesOf(file string) int64 {
	if s == nil {
		return 0
	}
	return map[string]int64{ReadingsFile: s.Readings, CanariesFile: s.Canaries, GradesFile: s.Grades}[file]
}

// TrafficFile describes the requests of recorded traffic, one a line, for replaying them. The lines are those of Mooncake's traces. A long recording goes on
// in files of the names that [TrafficPart] returns.
const TrafficFile = "traffic.jsonl"

// TrafficPart returns the name of a part of the traffic: [TrafficFile] for part 0.
func TrafficPart(n int) string {
	if n == 0 {
		return TrafficFile
	}
	return fmt.Sprintf("traffic-%d.jsonl", n)
}

// TrafficParts returns the files in a run directory that hold traffic, in order. Early ones may have been removed, and any packed with gzip.
func TrafficParts(dir string) (files []string) {
	there, _ := filepath.Glob(filepath.Join(dir, "traffic*.jsonl*")) // its only error is that of the pattern
	part := func(file string) int {
		name := strings.TrimSuffix(filepath.Base(file), ".gz")
		n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(name, "traffic-"), ".jsonl"))
		switch {
		case name == TrafficFile:
			return 0
		case err != nil || n < 1 || name != TrafficPart(n):
			return -1
		}
		return n
	}
	there = slices.DeleteFunc(there, func(file string) bool { return part(file) < 0 })
	slices.SortFunc(there, func(a, b string) int { return cmp.Compare(part(a), part(b)) })
	return there
}

// Passed is a request of recorded traffic, and a line of [TrafficFile].
type Passed struct {
	Timestamp int64   `json:"timestamp"`       // when it was sent, in milliseconds since the start of the recording
	Input     int     `json:"input_length"`    // tokens of the prompt, as the server counted them
	Output    int     `json:"output_length"`   // tokens of the answer
	Duration  int64   `json:"duration"`        // from the request to the end of the answer, in milliseconds
	Hashes    []int64 `json:"hash_ids"`        // salted hashes of the prompt's blocks of 64 bytes: equal ones mean equal prompts up to the block's end
	Session   int     `json:"session"`         // from 0: requests that continue one another
	Client    int     `json:"client,omitzero"` // from 1: by its key, else by its address; 0 where that is not known
}
