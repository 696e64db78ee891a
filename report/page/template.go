package page

import (
	"strings"

	"llmsweep/report/lang"
)

// foldText returns the beginning of a long text: its first sentences, or the first things that its only sentence lists;
// nil for others.
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

// sentencesUpTo returns the first whole sentences with at least so many characters, or all of a text.
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

func firstPanel(all []Panel) string {
	for _, p := range all {
		if p.First {
			return p.ID
		}
	}
	return all[0].ID
}

func word(key string) lang.Text {
	p, ok := map[string]lang.Phrase{
		"skip": pageSkip, "numbers": pageNumbers, "markdown": pageMarkdown, "csv": pageCSV, "copy": pageCopy,
		"more": pageMore, "shown": pageShown, "axis": pageAxis, "stage": pageStage, "all": pageAllStages,
		"behind": pageBehind, "use": pageUse, "contents": pageContents, "made": pageMade, "uncertain": pageUncertain,
		"nomatch": pageNoMatch, "language": pageLanguage, "unfiltered": pageUnfiltered,
	}[key]
	if !ok {
		return lang.Same("?" + key)
	}
	return p.Text()
}
