package published

import (
	"regexp"
	"strings"
)

var (
	htmlSpace = strings.NewReplacer("&nbsp;", " ", "\u00a0", " ", "<br>", " ", "<br/>", " ", "<br />", " ", "**", "",
		"__", "")
	footnote    = regexp.MustCompile(`<sup>[^<]*</sup>|\[\^[^\]]*\]|[⁰¹²³⁴⁵⁶⁷⁸⁹†‡]`)
	numberStart = regexp.MustCompile(`^[\\>≥\s]*([0-9][0-9.,]*)`)
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

// commasOf tells by all cells of a table what its commas are.
func commasOf(cells []string) commas {
	decimal, point, grouped := false, false, false
	for _, cell := range cells {
		number := firstNumber(cell)
		decimal = decimal || decimalComma.MatchString(number)
		point = point || decimalPoint.MatchString(number)
		grouped = grouped || strings.Contains(number, ",")
	}
	switch {
	case decimal && !point:
		return decimalCommas
	case decimal || grouped && !point:
		return unclearCommas
	}
	return groupCommas
}

// firstNumber returns the number that a cell begins with; empty where it begins with none.
func firstNumber(cell string) string {
	if m := numberStart.FindStringSubmatch(strings.Map(narrow, cell)); m != nil {
		return m[1]
	}
	return ""
}

// parse reads a cell of a table with such commas.
func (c commas) parse(text string) (Quantity, error) {
	number := firstNumber(text)
	switch {
	case c == unclearCommas && strings.Contains(number, ","):
		return Quantity{}, parseFault{faultComma.New()}
	case c == decimalCommas && strings.Count(number, ",") > 1:
		return Quantity{}, parseFault{faultNoNumber.New()}
	case c == decimalCommas:
		plain := strings.ReplaceAll(strings.ReplaceAll(number, ".", ""), ",", ".")
		text = strings.Replace(strings.Map(narrow, text), number, plain, 1)
	}
	return ParseQuantity(text)
}
