package rundir

// The files of a run directory.
const (
	RunFile     = "run.json"
	RecordsFile = "records.jsonl"
	ReportFile  = "report.md"
	PageFile    = "report.html"
)

// Synced is how much of the other files was on the disk when run.json was written, in bytes. What is damaged beyond it
// was cut by a power failure.
type Synced struct {
	Records  int64 `json:"records_bytes"`
	Readings int64 `json:"readings_bytes,omitempty"`
	Grades   int64 `json:"grades_bytes,omitempty"`
}

// Appended are the files that grow in a few writes while a run goes on, each of which is on the disk before the next
// begins.
func Appended() []string { return []string{ReadingsFile, GradesFile} }

// BytesOf returns how much of a file was on the disk; 0 for a run of an earlier version.
func (s *Synced) BytesOf(file string) int64 {
	if s == nil {
		return 0
	}
	return map[string]int64{RecordsFile: s.Records, ReadingsFile: s.Readings, GradesFile: s.Grades}[file]
}
