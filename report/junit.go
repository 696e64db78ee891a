package report

import (
	"cmp"
	"encoding/xml"
	"io"
	"strconv"
	"strings"
)

// The elements of jUnit XML, in the order and with the attributes that the schema of Apache Ant's reports requires. Jenkins, GitLab,
// Azure and the actions for GitHub read it.
type (
	xmlSuites struct {
		XMLName xml.Name `xml:"testsuites"`
		Suites  []xmlSuite
	}
	xmlSuite struct {
		XMLName    xml.Name      `xml:"testsuite"`
		Name       string        `xml:"name,attr"`
		Package    string        `xml:"package,attr"`
		ID         int           `xml:"id,attr"`
		Timestamp  string        `xml:"timestamp,attr"`
		Hostname   string        `xml:"hostname,attr"`
		Tests      int           `xml:"tests,attr"`
		Failures   int           `xml:"failures,attr"`
		Errors     int           `xml:"errors,attr"`
		Time       string        `xml:"time,attr"`
		Properties []xmlProperty `xml:"properties>property"`
		Cases      []xmlCase
		Out        string `xml:"system-out"`
		Err        string `xml:"system-err"`
	}
	xmlProperty struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	xmlCase struct {
		XMLName xml.Name    `xml:"testcase"`
		Name    string      `xml:"name,attr"`
		Class   string      `xml:"classname,attr"`
		Time    string      `xml:"time,attr"`
		Failure *xmlProblem `xml:"failure"`
		Error   *xmlProblem `xml:"error"`
	}
	xmlProblem struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr"`
		Text    string `xml:",chardata"`
	}
)

// packageName groups the suites, and is the first part of the names of classes.
const packageName = "llmsweep"

// WriteJUnit writes suites as jUnit XML. What is missed is a failure, what is not decided an error.
func WriteJUnit(w io.Writer, suites []GateSuite) error {
	var doc xmlSuites
	for i, s := range suites {
		doc.Suites = append(doc.Suites, s.xml(i))
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(doc); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func (s *GateSuite) xml(id int) xmlSuite {
	x := xmlSuite{
		Name: cmp.Or(line(s.Name), packageName), Package: packageName, ID: id, Timestamp: s.Started.UTC().Format("2006-01-02T15:04:05"),
		Hostname: "localhost", Tests: len(s.Checks), Time: seconds(s.Seconds), Properties: []xmlProperty{},
	}
	for _, p := range s.Properties {
		if name := strings.TrimSpace(line(p.Name)); name != "" {
			x.Properties = append(x.Properties, xmlProperty{name, line(p.Text)})
		}
	}
	for _, t := range s.Lines {
		x.Out += line(t) + "\n"
	}
	for _, c := range s.Checks {
		one := xmlCase{Name: cmp.Or(line(c.Name), c.Class), Class: packageName + "." + c.Class, Time: seconds(c.Seconds)}
		problem := &xmlProblem{Message: line(c.Message), Text: line(c.Message)}
		switch c.Outcome {
		case GateFailed:
			problem.Type = "missed"
			one.Failure = problem
			x.Failures++
		case GateUndecided:
			problem.Type = "undecided"
			one.Error = problem
			x.Errors++
		}
		x.Cases = append(x.Cases, one)
	}
	return x
}

func seconds(s float64) string { return strconv.FormatFloat(s, 'f', 3, 64) }
