package published

import (
	"fmt"

	"os"
	"path/filepath"

	"github.com/tidwall/gjson"
)

// Files beside evalscope's benchmark_summary.json that belong to it.
const (
	evalScopePercentiles = "benchmark_percentile.json"
	evalScopeArgs        = "benchmark_args.json"
)

// besideEvalScope adds the percentiles and the arguments that stand beside a summary of evalscope, where they do.
func besideEvalScope(doc *Document) error {
	dir, run := filepath.Dir(doc.Name), &doc.Runs[0]
	name := filepath.Join(dir, evalScopePercentiles)
	if b, err := os.ReadFile(name); err == nil {
		if err := addPercentiles(run, name, string(b)); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	name = filepath.Join(dir, evalScopeArgs)
	b, err := os.ReadFile(name)
	if err != nil {
		return nil
	}
	if _, err := topLevel(string(b)); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	args := gjson.ParseBytes(b)
	run.Target.URL, run.Target.Model = args.Get("url").String(), args.Get("model").String()
	run.Target.API = labelAPI(run.Target.URL)
	run.Labels.Model, run.Labels.Quant = splitQuant(run.Target.Model)
	w := &run.Workload
	w.Dataset = args.Get("dataset").String()
	if low, high := args.Get("min_prompt_length").Num, args.Get("max_prompt_length").Num; low == high {
		w.PromptTokens.Mean = high
	}
	if low, high := args.Get("min_tokens").Num, args.Get("max_tokens").Num; low == high {
		w.OutputTokens.Mean = high
	}
	return nil
}
