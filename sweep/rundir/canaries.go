package rundir

import "iter"

// Canaries yields the answers to canaries in a run directory; none where there is no file.
func Canaries(path string) iter.Seq2[*CanaryAnswer, error] {
	return values[CanaryAnswer](path, CanariesFile)
}

// AppendCanaries writes answers to canaries.
func (d *Dir) AppendCanaries(all []CanaryAnswer) error { return appendTo(d, CanariesFile, all) }

// Canaries yields the answers to canaries that have been appended so far.
func (d *Dir) Canaries() iter.Seq2[*CanaryAnswer, error] { return Canaries(d.Path) }
