package published

import (
	"regexp"
	"strings"
)

var (
	htmlSpace = strings.NewReplacer("&nbsp;", " ", "\u00a0", " ", "<br>", " ", "<br/>", " ", "<br />", " ", "**", "",
		"__", "")
	footnote   = regexp.MustCompile(`<sup>[^<]*</sup>|\[\^[^\]]*\]|[⁰¹²³⁴⁵⁶⁷⁸⁹†‡]`)
	commaGroup = regexp.MustCompile(`^[\\>≥\s]*([0-9][0-9.,]*)`)
)

// plainCell returns a cell without what only dresses it: bold, footnote marks, spaces and breaks of HTML.
func plainCell(text string) string {
	text = strings.TrimSpace(footnote.ReplaceAllString(htmlSpace.Replace(text), ""))
	if marked := strings.TrimRight(text, "*"); strings.ContainsAny(marked, "0123456789") {
		text = marked
	}
	return strings.TrimSpace(text)
}

// commas is what the commas and points of a table are.
type commas uint8

const (
	groupCommas   commas = iota // commas group thousands, and a point is a decimal one
	decimalCommas               // commas are decimal ones, and points group thousands
	unclearCommas               // 1,070 may be either
)

var (
	decimalComma = regexp.MustCompile(`^0,|,(?:[0-9]{1,2}|[0-9]{4,})$|\.[0-9]{3},`)
	decimalPoint = regexp.MustCompile(`^0\.|\.(?:[0-9]{1,2}|[0-9]{4,})$|,[0-9]{3}\.`)
)

// commasOf finds out what the commas of a table are, by all of its cells.
func commasOf(cells []string) commas {
	comma, point, any := false, false, false
	for _, cell := range cells {
		number := firstNumber(cell)
		comma = comma || decimalComma.MatchString(number)
		point = point || decimalPoint.MatchString(number)
		any = any || strings.Contains(number, ",")
	}
	switch {
	case comma && !point:
		return decimalCommas
	case comma || any && !point:
		return unclearCommas
	}
	return groupCommas
}

// firstNumber returns the number that a cell begins with; empty where it begins with none.
func firstNumber(cell string) string {
	if m := commaGroup.FindStringSubmatch(strings.Map(narrow, cell)); m != nil {
		return m[1]
	}
	return ""
}

// plain returns the text of a cell with the commas and points that Go reads.
func (c commas) plain(text string) (string, error) {
	number := firstNumber(text)
	switch {
	case c == decimalCommas:
		plain := strings.ReplaceAll(strings.ReplaceAll(number, ".", ""), ",", ".")
		if strings.Count(number, ",") > 1 {
			return "", parseFault{faultNoNumber.New()}
		}
		return strings.Replace(strings.Map(narrow, text), number, plain, 1), nil
	case c == unclearCommas && strings.Contains(number, ","):
		return "", parseFault{faultComma.New()}
	}
	return text, nil
}
