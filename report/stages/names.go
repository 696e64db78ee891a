package stages

import (
	"cmp"
	"strconv"
	"strings"

	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

// Setup names the model, the hardware and the engine, as far as they are known.
func Setup(run *rundir.Run, l lang.Lang) string {
	var parts []string
	for _, s := range []string{ModelName(run), Hardware(run, l, ""), EngineName(run)} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	if len(parts) == 0 {
		return nounServer.In(l)
	}
	return strings.Join(parts, lang.Comma.In(l))
}

// Hardware is how many of which GPU, each set off by bold; empty where no GPU was named.
func Hardware(run *rundir.Run, l lang.Lang, bold string) string {
	gpu, n := run.Labels.GPU, run.Labels.GPUs
	switch {
	case gpu == "":
		return ""
	case n == 0:
		return bold + gpu + bold
	case l == lang.Chinese:
		return bold + strconv.Itoa(n) + bold + "张" + bold + gpu + bold
	}
	return bold + strconv.Itoa(n) + bold + " x " + bold + gpu + bold
}

// StageName is what the repetitions of a stage are called together.
func StageName(s *rundir.Stage) string {
	return strings.TrimSuffix(s.Name, "#"+strconv.Itoa(s.Repeat))
}

// Marks are what the name of a stage has to warn of.
func Marks(s *rundir.Stage) string {
	m := ""
	if !Whole(s) {
		m += table.MarkCut
	}
	if !s.Invalid.IsZero() {
		m += table.MarkInvalid
	}
	return m
}

// ModelName is the model as people call it, its quantization included.
func ModelName(run *rundir.Run) string {
	name := cmp.Or(run.Labels.Model, run.Target.Model)
	quant := run.Labels.Quant
	if name == "" || quant == "" || strings.Contains(strings.ToLower(name), strings.ToLower(quant)) {
		return name
	}
	return name + "-" + quant
}

// EngineName is the serving engine, as labelled or as it said itself.
func EngineName(run *rundir.Run) string { return cmp.Or(run.Labels.Engine, run.Target.Engine) }
