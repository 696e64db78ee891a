package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"llmsweep/cmd/llmsweep/console"
	"llmsweep/report/claims"
	"llmsweep/report/compare"
	"llmsweep/report/curve"
	"llmsweep/report/document"
	"llmsweep/report/inputs"
	"llmsweep/report/lang"
	"llmsweep/report/outfile"
	html "llmsweep/report/page"
	"llmsweep/report/page/layout"
	"llmsweep/report/published/read"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

// document writes the comparison document of all results, or renews an existing one.
func (r *reportCmd) document(c *console.Console) error {
	if r.Output == "" {
		return console.Usage(errors.New("--document needs a file to write, -o report.md: drawings go beside it"))
	}
	old, err := os.ReadFile(r.Output)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return console.Usage(err)
	}
	// The document's own tables are not new results: it names where they came from.
	inputs, err := inputs.Read(c.Err, slices.DeleteFunc(r.Dirs, func(path string) bool { return r.from(path) == filepath.Base(r.Output) }))
	if err != nil {
		return console.Usage(err)
	}
	if inputs, err = r.withKept(c, inputs, old); err != nil {
		return console.Usage(fmt.Errorf("%s: %w", r.Output, err))
	}
	if len(inputs) == 0 {
		return console.Usage(errors.New("--document needs results: run directories, or documents with published tables"))
	}
	o := document.Options{
		Lang: lang.Lang(r.Lang), Force: r.Force, Base: strings.TrimSuffix(filepath.Base(r.Output), filepath.Ext(r.Output)), From: r.from, AnyWorkload: r.AnyWorkload,
	}
	if err := r.choice(&o, old); err != nil {
		return console.Usage(err)
	}
	if o.Choice != nil {
		if err := assess(inputs, o.Choice.Terms); err != nil {
			return console.Usage(err)
		}
	}
	setups := curve.LoadAs(inputs, r.from)
	for _, said := range claimsOf(setups) {
		o.Claims = append(o.Claims, document.Claims{Name: r.from(said[0].File), All: said})
	}
	out, err := document.Write(setups, old, o)
	if err != nil {
		return console.Usage(fmt.Errorf("%s: %w", r.Output, err))
	}
	page, err := r.documentPage(setups, o.Claims)
	if err != nil {
		return console.Usage(err)
	}
	if page != nil {
		out.Files[filepath.Base(html.Beside(r.Output))] = page
	}
	return r.keep(out)
}

// documentPage returns the page of the results of a document; nil for a single one.
func (r *reportCmd) documentPage(setups []curve.Setup, said []document.Claims) ([]byte, error) {
	if len(setups) < 2 {
		return nil, nil
	}
	result, err := compare.Of(setups, compare.Options{AnyWorkload: r.AnyWorkload})
	if err != nil {
		return nil, err
	}
	sections := func(l lang.Lang) []table.Section {
		all := result.Sections(l, 1)
		for _, s := range said {
			all = append(all, claims.Section(s.Name, s.All, l, 2))
		}
		return all
	}
	var b bytes.Buffer
	if err := html.Compare(&b, result, setups, sections, layout.Options{Lang: lang.Lang(r.Lang)}); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// keep writes a document and its drawings. The document is replaced as a whole, because people write in it.
func (r *reportCmd) keep(out document.Output) error {
	var beside []outfile.File
	for name, b := range out.Files {
		beside = append(beside, outfile.File{Path: filepath.Join(filepath.Dir(r.Output), name), Content: b, Comment: outfile.XML})
	}
	if err := console.WriteFiles(r.Force, beside...); err != nil {
		return err
	}
	const own = true // the parts that people may have changed were checked one by one
	return console.WriteFiles(own, outfile.File{Path: r.Output, Content: out.Document})
}

// from returns the path of a file relative to the directory of the document.
func (r *reportCmd) from(path string) string {
	there, err1 := filepath.Abs(path)
	here, err2 := filepath.Abs(filepath.Dir(r.Output))
	if err1 == nil && err2 == nil {
		if rel, err := filepath.Rel(here, there); err == nil {
			return filepath.ToSlash(rel)
		}
	}
	return filepath.ToSlash(path)
}

// choice sets what to choose for: the flags, or else what the document was written for.
func (r *reportCmd) choice(o *document.Options, old []byte) error {
	wish := r.Wish
	if len(wish.SLO) == 0 && wish.Demand == "" {
		text := document.ChoiceNote(old)
		if text == "" {
			return nil
		}
		prices := wish.Price
		if err := json.Unmarshal([]byte(text), &wish); err != nil {
			return fmt.Errorf("%s: the comment that holds its --slo and --demand is damaged (%s); give them again", r.Output, text)
		}
		wish.Price = append(wish.Price, prices...)
	}
	options, err := wish.Options()
	if err != nil {
		return err
	}
	options.AnyWorkload = r.AnyWorkload
	o.Choice, o.ChoiceNote = &options, wish
	return nil
}

// withKept adds the runs in the document that were not named now. Each is read again from its source; where that is gone, the
// numbers come from the document's own table.
func (r *reportCmd) withKept(c *console.Console, inputs []curve.Input, old []byte) ([]curve.Input, error) {
	kept, err := document.Runs(old)
	if err != nil {
		return nil, err
	}
	for _, k := range kept {
		if slices.ContainsFunc(inputs, func(in curve.Input) bool { return r.is(in, k) }) {
			continue
		}
		again, ok := r.again(k)
		if !ok {
			if again, ok = r.printed(k, old); !ok {
				return nil, fmt.Errorf("lines %d to %d hold no table, and %s is gone; delete that part", k.FirstLine, k.FirstLine+k.Lines, k.From)
			}
			fmt.Fprintf(c.Err, "%s is gone: its numbers are taken from %s\n", table.Clean(k.From), r.Output)
		}
		inputs = append(inputs, again)
	}
	return inputs, nil
}

// is reports whether an input is the run that a document holds.
func (r *reportCmd) is(in curve.Input, k document.Kept) bool {
	if src := in.Run.Source; src != nil {
		return r.from(src.File) == k.From && src.Line == k.Line
	}
	return r.from(in.Path) == k.From
}

// again reads a run from its source.
func (r *reportCmd) again(k document.Kept) (curve.Input, bool) {
	path := filepath.Join(filepath.Dir(r.Output), filepath.FromSlash(k.From))
	some, err := inputs.Path(&bytes.Buffer{}, path) // unreadable lines were reported when it was read first
	if err != nil {
		return curve.Input{}, false
	}
	i := slices.IndexFunc(some, func(in curve.Input) bool { return r.is(in, k) })
	if i < 0 {
		return curve.Input{}, false
	}
	return some[i], true
}

// printed reads the table of a run in the document itself.
func (r *reportCmd) printed(k document.Kept, old []byte) (curve.Input, bool) {
	doc, err := read.Parse(r.Output, bytes.NewReader(old))
	if err != nil {
		return curve.Input{}, false
	}
	i := slices.IndexFunc(doc.Runs, func(run rundir.Run) bool {
		return run.Source.Line >= k.FirstLine && run.Source.Line < k.FirstLine+k.Lines
	})
	if i < 0 {
		return curve.Input{}, false
	}
	run := &doc.Runs[i]
	path := filepath.Join(filepath.Dir(r.Output), filepath.FromSlash(k.From))
	run.Source.File, run.Source.Line = path, k.Line
	return curve.Input{Path: path, Run: run}, true
}
