package store

import (
	"iter"
	"sync"

	"llmsweep/sweep/rundir"
)

// Memory keeps a run in memory, for thousands of simulated experiments that need no files.
type Memory struct {
	mu      sync.Mutex
	records map[string][]*rundir.Record // by stage
	grades  []rundir.Grade

	Run *rundir.Run // as last saved
}

// Append keeps a copy of the record.
func (m *Memory) Append(r *rundir.Record) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.records == nil {
		m.records = map[string][]*rundir.Record{}
	}
	m.records[r.Stage] = append(m.records[r.Stage], r.Clone())
	return nil
}

// Records yields the records of one stage.
func (m *Memory) Records(stage string) iter.Seq2[*rundir.Record, error] {
	return func(yield func(*rundir.Record, error) bool) {
		m.mu.Lock()
		records := m.records[stage]
		m.mu.Unlock()
		for _, r := range records {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// Save keeps the run.
func (m *Memory) Save(run *rundir.Run) error {
	m.Run = run
	return nil
}

// AppendReadings keeps nothing: who measures in memory asks for no gauges.
func (m *Memory) AppendReadings([]rundir.Reading) error { return nil }

// AppendGrades keeps the outcomes of graded questions.
func (m *Memory) AppendGrades(all []rundir.Grade) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.grades = append(m.grades, all...)
	return nil
}

// Grades yields the outcomes of graded questions.
func (m *Memory) Grades() iter.Seq2[*rundir.Grade, error] {
	return func(yield func(*rundir.Grade, error) bool) {
		for i := range m.grades {
			if !yield(&m.grades[i], nil) {
				return
			}
		}
	}
}

// Broken returns nil: memory does not fail.
func (m *Memory) Broken() <-chan struct{} { return nil }

// Failure returns nil.
func (m *Memory) Failure() error { return nil }
