package findings

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"llmsweep/report/lang"
	"llmsweep/sweep/rundir"
)

// SetupName returns the model, the hardware and the engine of a run, as far as they are known.
func SetupName(run *rundir.Run, l lang.Lang) string {
	parts := slices.DeleteFunc([]string{ModelName(run), HardwareName(run, l, ""), EngineName(run)},
		func(s string) bool { return s == "" })
	if len(parts) == 0 {
		return nounServer.In(l)
	}
	return strings.Join(parts, lang.Comma.In(l))
}

// HardwareName returns the number and the name of the GPUs, each between the signs bold; empty where no GPU is known.
func HardwareName(run *rundir.Run, l lang.Lang, bold string) string {
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

// StageName returns the name of a stage as people see it.
func StageName(s *rundir.Stage) string { return lang.StageName(s.Name) }

// BaseName returns the name that the repetitions of a stage have in common.
func BaseName(s *rundir.Stage) string {
	return strings.TrimSuffix(StageName(s), "#"+strconv.Itoa(s.Repeat))
}

// ModelName returns the name of the model, with its quantization.
func ModelName(run *rundir.Run) string {
	name := cmp.Or(run.Labels.Model, run.Target.Model)
	quant := run.Labels.Quant
	if name == "" || quant == "" || strings.Contains(strings.ToLower(name), strings.ToLower(quant)) {
		return name
	}
	return name + "-" + quant
}

// EngineName returns the serving engine, as labelled, else as the server reported it.
func EngineName(run *rundir.Run) string { return cmp.Or(run.Labels.Engine, run.Target.Engine) }

func roleName(role rundir.Role) lang.Text {
	p, ok := map[rundir.Role]lang.Phrase{
		rundir.Synchronous: roleFloor, rundir.Grid: roleGrid, rundir.Throughput: roleCeiling,
		rundir.Probe: roleProbe, rundir.Hold: roleHold, rundir.Single: roleSingle, rundir.WarmUp: roleWarmUp,
	}[role]
	if !ok {
		return lang.Same(string(role))
	}
	return p.Text()
}
