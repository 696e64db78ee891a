package rundir

import "llmsweep/client/note"

// GradesFile holds the outcomes of graded questions, one a line. A run without an answer in its dataset has none.
const GradesFile = "grades.jsonl"

// GradesVerdict is whether the accuracy of answers differs. It is empty where none was compared.
type GradesVerdict string

// Verdicts on the accuracy of a stage, or of a run against another.
const (
	GradesSame      GradesVerdict = "same"
	GradesWorse     GradesVerdict = "worse"
	GradesBetter    GradesVerdict = "better"
	GradesUndecided GradesVerdict = "undecided"
)

// Grade is the outcome of a request for the answer to a graded question, and a line of [GradesFile].
type Grade struct {
	Stage   string `json:"stage"`
	Item    string `json:"item"`              // a hash of the question and what is right: the same in all runs
	Seq     int    `json:"seq"`               // as in records.jsonl
	Outcome string `json:"outcome,omitempty"` // right, wrong, none (no answer was found in it) or cut (by its limit)
	Said    string `json:"said,omitempty"`    // what was found in it, shortened
	Failed  string `json:"failed,omitempty"`  // the class of a request without an answer, or "refused"
}

// Grades is what the graded questions of a run show. They are asked alone, one at a time, before the first stage, and in each stage as its requests.
type Grades struct {
	Items   int           `json:"items"`           // asked alone
	Alone   Graded        `json:"alone"`           // the answers got alone
	Load    Graded        `json:"load"`            // those of all stages
	Verdict GradesVerdict `json:"verdict"`         // on the accuracy under load
	Stage   string        `json:"stage,omitempty"` // the one with the lowest load that shows a difference; empty where no single stage does
	// Needs has how many items, each asked once in a stage, show a difference with a probability of 80 %. Detects is the smallest difference
	// that the items of this run show so. Both reckon with as many answers that change by chance as did.
	Needs   []Needed    `json:"needs,omitempty"`
	Detects Number      `json:"detects,omitzero"`
	Notes   []note.Note `json:"notes,omitempty"`
}

// Needed is how many items show a difference in accuracy.
type Needed struct {
	Difference Number `json:"difference"` // a share
	Items      int    `json:"items"`
}

// Graded counts graded answers, and compares them with others to the same questions.
type Graded struct {
	Answers  int      `json:"answers"` // right or wrong
	Right    int      `json:"right"`
	None     int      `json:"none,omitempty"`   // of the wrong: those in which no answer was found
	Cut      int      `json:"cut,omitempty"`    // ended by their limit, so that they are neither
	Failed   int      `json:"failed,omitempty"` // requests without an answer, and refusals of the model's provider; they are neither
	Items    int      `json:"items"`            // different ones among the answers
	Accuracy Estimate `json:"accuracy,omitzero"`

	// Pairs are the items that were answered on both sides. Lost are those of them that are right less often than alone, Gained those that are more often.
	Pairs      int           `json:"pairs,omitempty"`
	Lost       int           `json:"lost,omitempty"`
	Gained     int           `json:"gained,omitempty"`
	Difference Estimate      `json:"difference,omitzero"` // of the accuracy, on these items: negative where it is lower than alone
	P          Number        `json:"p,omitzero"`          // of a difference so large in either direction, if there is none
	Verdict    GradesVerdict `json:"verdict,omitempty"`
}
