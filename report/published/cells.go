package published

import (
	"regexp"
	"strings"
)

var (
	htmlSpace  = strings.NewReplacer("&nbsp;", " ", "\u00a0", " ", "<br>", " ", "<br/>", " ", "<br />", " ", "**", "", "__", "")
	footnote   = regexp.MustCompile(`<sup>[^<]*</sup>|\[\^[^\]]*\]|[⁰¹²³⁴⁵⁶⁷⁸⁹†‡]`)
	commaGroup = regexp.MustCompile(`^[\\>≥\s]*([0-9][0-9.,]*)`)
	thousands  = regexp.MustCompile(`^[1-9][0-9]{0,2}(?:,[0-9]{3})+$`)
)

// plainCell returns a cell without what only dresses it: bold, footnote marks, spaces and breaks of HTML.
func plainCell(text string) string {
	text = strings.TrimSpace(footnote.ReplaceAllString(htmlSpace.Replace(text), ""))
	if marked := strings.TrimRight(text, "*"); strings.ContainsAny(marked, "0123456789") {
		text = marked
	}
	return strings.TrimSpace(text)
}

// commas is what the commas of a table are.
type commas uint8

const (
	groups   commas = iota // they group thousands
	decimals               // they are decimal ones
	unclear                // 1,070 may be either
)

// commasOf finds out what the commas of a table are, by all of its cells: thousands where a cell has a decimal point,
// decimal ones where a comma cannot group thousands.
func commasOf(cells []string) commas {
	found := groups
	for _, cell := range cells {
		number := firstNumber(cell)
		switch {
		case strings.Contains(number, "."):
			return groups
		case strings.Contains(number, ",") && !thousands.MatchString(number):
			found = decimals
		case strings.Contains(number, ",") && found == groups:
			found = unclear
		}
	}
	return found
}

// firstNumber returns the number that a cell begins with; empty where it begins with none.
func firstNumber(cell string) string {
	if m := commaGroup.FindStringSubmatch(strings.Map(narrow, cell)); m != nil {
		return m[1]
	}
	return ""
}

// plain returns the text of a cell with the commas that Go reads.
func (c commas) plain(text string) (string, error) {
	number := firstNumber(text)
	switch {
	case !strings.Contains(number, ","):
	case c == unclear:
		return "", fault{faultComma.New()}
	case c == decimals && strings.Count(number, ",") > 1:
		return "", fault{faultNoNumber.New()}
	case c == decimals:
		return strings.Replace(strings.Map(narrow, text), ",", ".", 1), nil
	}
	return text, nil
}
