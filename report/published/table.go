package published

import "strings"

// frameRunes are what box-drawn tables begin their lines with.
const frameRunes = "|┃│┏┡└┌├╞╘╒┗┣╭╰+"

// isFramed reports whether a line belongs to a table: a Markdown one, or one drawn as a box. A six-column heading may
// lack its outer pipes.
func isFramed(line string) bool {
	if strings.ContainsRune(frameRunes, firstRune(line)) {
		return !strings.HasPrefix(line, "+") || strings.HasPrefix(line, "+-") || strings.HasPrefix(line, "+=")
	}
	if strings.Count(line, "|") < 2 {
		return false
	}
	known, _ := findColumns(splitCells(line))
	return known != nil
}

func firstRune(s string) rune {
	for _, r := range s {
		return r
	}
	return 0
}

// isRule reports whether a line of a table only draws.
func isRule(line string) bool {
	return strings.Trim(line, "-=:|+ \t─━═┏┳┓┡╇┩└┴┘┌┬┐├┼┤┗┻┛┣╋┫╞╪╡╘╧╛╒╤╕╭╮╰╯│┃") == "" &&
		strings.ContainsAny(line, "-=─━═")
}

// maxCells bounds a row: a line of pipes is no table.
const maxCells = 64

// splitCells cuts a row into its cells: at the bars of a box, or at the pipes of Markdown, whose escapes are undone.
func splitCells(line string) []string {
	line = strings.TrimSpace(line)
	var cells []string
	if strings.ContainsRune("│┃", firstRune(line)) {
		cells = strings.SplitN(strings.ReplaceAll(line, "┃", "│"), "│", maxCells)
		for i, c := range cells {
			cells[i] = plainCell(c)
		}
	} else {
		cells = splitPipes(line)
	}
	if cells[0] == "" { // the pipe before the first cell
		cells = cells[1:]
	}
	closed := strings.HasSuffix(line, "|") || strings.HasSuffix(line, "│") || strings.HasSuffix(line, "┃")
	if n := len(cells); n > 0 && cells[n-1] == "" && closed {
		cells = cells[:n-1]
	}
	return cells
}

func splitPipes(line string) []string {
	var cells []string
	var b strings.Builder
	end := func() {
		cells = append(cells, plainCell(htmlEscapes.Replace(b.String())))
		b.Reset()
	}
	escaped := false
	for _, r := range line {
		switch {
		case escaped:
			b.WriteRune(r)
			escaped = false
		case r == '\\':
			escaped = true
		case r == '`': // around code
		case r == '|' && len(cells) < maxCells:
			end()
		default:
			b.WriteRune(r)
		}
	}
	end()
	return cells
}

func (p *parser) readTable() {
	first := p.at
	for p.at < len(p.lines) && isRule(strings.TrimSpace(p.lines[p.at])) {
		p.take(lineFrame)
	}
	if p.at == len(p.lines) || !strings.ContainsAny(p.lines[p.at], "|│┃") {
		if p.at == first {
			p.takeUnread(noteNoCell.New())
		}
		return
	}
	if isSMIHeader(strings.TrimSpace(p.lines[p.at])) {
		p.takeContext(p.preamble.readSMI(p.at))
		return
	}
	head := splitCells(p.lines[p.at])
	above := p.preamble.lastHeading()
	percentiles := above == "Percentiles" || above == "百分位数" // which llmsweep writes beneath a six-column table
	if columns, refused := findColumns(head); columns != nil && !percentiles {
		p.readSixColumn(columns, refused, head)
		return
	}
	if len(head) == 2 && letters(head[0]) == "metric" && letters(head[1]) == "value" {
		p.readStress()
		return
	}
	p.preamble.title = nil
	processes := p.preamble.hardware != nil && len(head) > 0 && strings.HasPrefix(head[0], "Processes") // of nvidia-smi
	summary := len(head) > 1 && head[0] == "Stage" && head[1] == "In Flight"                            // of WriteStress
	if !processes && !summary {
		row := len(head) > 0 && isStageName(head[0]) // of a table that ended above it
		p.remark(p.at+1, row, noteOtherTable.New(short(strings.Join(head, ", "))))
	}
	p.skipTable()
}

func (p *parser) skipTable() {
	for p.at < len(p.lines) && strings.ContainsRune(frameRunes, firstRune(strings.TrimSpace(p.lines[p.at]))) &&
		strings.TrimSpace(p.lines[p.at]) != "" {
		p.take(lineProse)
	}
}

// alike reports whether two labels, reduced to letters, differ by a typing error at most: two letters in a label of
// eight or more. Shorter ones must be the same, and so must Chinese ones, in which a letter is a word.
func alike(a, b string) bool {
	if a == b {
		return true
	}
	x, y := []rune(a), []rune(b)
	if len(y) < 8 || len(y) < len(b) || len(x) > len(y)+2 || len(y) > len(x)+2 {
		return false
	}
	return distance(x, y) <= 2
}

// distance is the number of letters to change, add or leave out to turn a into b (Levenshtein).
func distance(a, b []rune) int {
	previous, row := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range previous {
		previous[j] = j
	}
	for i, x := range a {
		row[0] = i + 1
		for j, y := range b {
			cost := 1
			if x == y {
				cost = 0
			}
			row[j+1] = min(previous[j+1]+1, row[j]+1, previous[j]+cost)
		}
		previous, row = row, previous
	}
	return previous[len(b)]
}
