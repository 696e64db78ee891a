package page

import (
	"html/template"

	"llmsweep/report/draw"
	"llmsweep/report/lang"
)

// FigureBlock is a drawing with its switches and its numbers.
type FigureBlock struct {
	Name     string
	Title    lang.Text
	Caption  lang.Text // what it shows, in words
	Note     lang.Text // beneath it: what is drawn of how many
	Variants []Variant
	Switches []Switch // of series
	Key      []Marker // of its markers
	Table    *Grid
	Lazy     []LazyTable // tables that the script makes from Document.Data
}

func newFigureBlock(fig *draw.Figure, variants ...Variant) FigureBlock {
	return FigureBlock{Name: fig.Name, Title: fig.Title, Caption: fig.Caption, Variants: variants}
}

// Marker tells what a marker stands for.
type Marker struct {
	Shape draw.Shape
	Text  lang.Text
}

// Variant is a drawing with a kind of axis.
type Variant struct {
	Key   string // "lin" or "log"
	Text  lang.Text
	SVG   template.HTML
	Small []Thumbnail // drawings of one run each, in place of SVG
	Off   bool        // shown on demand

	Drawn *draw.Figure // what SVG was made of
}

// Thumbnail is a drawing of one run among others.
type Thumbnail struct {
	Title string
	SVG   template.HTML
}

// Switch shows and hides a series.
type Switch struct {
	Key    string
	Text   lang.Text
	Colour int
	Dashed bool
}

func newSwitch(key, text string, i int) Switch {
	return Switch{Key: key, Text: lang.Same(text), Colour: i % draw.Colours, Dashed: i >= draw.Colours}
}

// LazyTable is a table that the script makes when it is opened.
type LazyTable struct {
	Name string // in Document.Data
	Text lang.Text
}

// Panel is what is shown of one stage.
type Panel struct {
	ID      string
	Name    lang.Text // of the stage, with its verdict
	Figures []FigureBlock
	Slowest *Slowest
	First   bool // it is shown first
}

// Slowest lists the slowest requests of a stage, and the percentiles that choose among them.
type Slowest struct {
	Choices []RowChoice
	Table   *Grid
	Note    lang.Text
}

// RowChoice is a percentile of a metric.
type RowChoice struct {
	Metric string
	Text   lang.Text
	Value  float64 // seconds
}

// markup marks SVG that package draw, or this one, wrote: every text in it is escaped.
func markup(svg string) template.HTML { return template.HTML(svg) }

// IndexPage lists runs, for choosing some of them.
type IndexPage struct {
	Filters []Filter
	Table   *Grid
}

// Filter is a label by which runs can be chosen, and its values.
type Filter struct {
	Key    string
	Text   lang.Text
	Values []string
}
