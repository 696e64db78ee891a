package rundir

import "llmsweep/client/note"

// GradesFile holds the outcomes of graded questions, one a line. A run without an answer in its dataset has none.
const GradesFile = "grades.jsonl"

// Grade is the outcome of a request for the answer to a graded question, and a line of [GradesFile].
type Grade struct {
	Stage   string `json:"stage"`
	Item    string `json:"item"`              // a hash of the question and what is right: the same in all runs
	Seq     int    `json:"seq"`               // as in records.jsonl
	Outcome string `json:"outcome,omitempty"` // right, wrong, none (no answer was found in it) or cut (by its limit)
	Said    string `json:"said,omitempty"`    // what was found in it, shortened
	Failed  string `json:"failed,omitempty"`  // the class of a request without an answer, or "refused"
}

// Grades is what the graded questions of a run show.
type Grades struct {
	All   Graded      `json:"load"` // of all stages
	Notes []note.Note `json:"notes,omitempty"`
}

// Graded counts graded answers.
type Graded struct {
	Answers int `json:"answers"` // right or wrong
	Right   int `json:"right"`
	None    int `json:"none,omitempty"` // of the wrong: those in which no answer was found
	Cut     int `json:"cut,omitempty"`  // ended by their limit, so that they are neither
	// requests without an answer, and refusals of the model's provider; they are neither
	Failed   int      `json:"failed,omitempty"`
	Items    int      `json:"items"` // different questions among the answers
	Accuracy Estimate `json:"accuracy,omitzero"`
}

// Estimate is a mean with its 95 % interval.
type Estimate struct {
	N    int    `json:"n"`
	Mean Number `json:"mean"`
	Low  Number `json:"low,omitzero"`
	High Number `json:"high,omitzero"`
}
