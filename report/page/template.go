package page

import (
	"strings"

	"llmsweep/report/lang"
)

// foldText returns the first sentences of a text that is too long to be read in passing, or where it is one sentence
// that lists much, the first things of the list; nil for others.
func foldText(t lang.Text) *lang.Text {
	const long, short = 260, 110 // characters
	if len([]rune(t.EN)) <= long {
		return nil
	}
	for _, stop := range []lang.Text{{EN: ". ", ZH: "。"}, {EN: "; ", ZH: "；"}} {
		en, zh := sentencesUpTo(t.EN, short, stop.EN), sentencesUpTo(t.ZH, short/2, stop.ZH)
		if en != t.EN && zh != t.ZH {
			return &lang.Text{EN: en + " …", ZH: zh + " …"}
		}
	}
	return nil
}

// sentencesUpTo returns the whole sentences at the beginning of a text that together have at least a number of
// characters, or all of it.
func sentencesUpTo(s string, least int, stop string) string {
	at := 0
	for len([]rune(s[:at])) < least {
		i := strings.Index(s[at:], stop)
		if i < 0 {
			return s
		}
		at += i + len(stop)
	}
	return strings.TrimRight(s[:at], " ")
}

// firstPanel returns the panel that a page shows first: that of the stage nearest to the comfortable load, or else of
// the highest output.
func firstPanel(all []Panel) string {
	for _, p := range all {
		if p.First {
			return p.ID
		}
	}
	return all[0].ID
}

// word returns a word of the page.
func word(key string) lang.Text {
	p, ok := map[string]lang.Phrase{
		"skip": pageSkip, "numbers": pageNumbers, "markdown": pageMarkdown, "csv": pageCSV, "copy": pageCopy,
		"more": pageMore, "shown": pageShown, "axis": pageAxis, "stage": pageStage, "all": pageAllStages,
		"behind": pageBehind, "use": pageUse, "contents": pageContents, "made": pageMade, "uncertain": pageUncertain,
		"nomatch":  pageNoMatch,
		"language": pageLanguage, "unfiltered": pageUnfiltered,
	}[key]
	if !ok {
		return lang.Same("?" + key)
	}
	return p.Text()
}
