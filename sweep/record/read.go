package record

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"llmsweep/client"
	"llmsweep/client/api"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
)

// mostBody is how many bytes of a request's body are read. Of a longer one, lengths and hashes are not known.
const mostBody = 16 << 20

// reader reads the requests of one connection, and their answers.
type reader struct {
	*Recorder
	*connection
	observers map[string]*client.Observer // by the name of the dialect
}

// read reads until the connection has ended, or until what passes is not understood.
func (r *reader) read() {
	defer func() {
		if recover() != nil { // a fault of the recorder must not end what it records
			r.count(func(c *Counts) { c.Unread++ })
		}
		r.up.end(io.EOF) // nothing more is kept of what passes
		r.down.end(io.EOF)
	}()
	up, down := bufio.NewReader(r.up), bufio.NewReader(r.down)
	for r.exchange(up, down) {
	}
}

// exchange reads one request and its answer, and reports whether another may follow.
func (r *reader) exchange(up, down *bufio.Reader) bool {
	if _, err := up.Peek(1); err != nil {
		return r.lost(err)
	}
	asked := r.up.arrived()
	req, err := http.ReadRequest(up)
	if err != nil {
		return r.lost(err)
	}
	body, err := io.ReadAll(io.LimitReader(req.Body, mostBody))
	if err == nil {
		_, err = io.Copy(io.Discard, req.Body)
	}
	if errors.Is(err, errBehind) {
		return r.lost(err)
	}
	dialect := dialectOf(req, body)
	if dialect == nil {
		r.count(func(c *Counts) { c.Other++ })
		resp, err := answerTo(req, down)
		if err != nil {
			return false
		}
		_, err = io.Copy(io.Discard, resp.Body)
		return err == nil && !resp.Close && resp.StatusCode != http.StatusSwitchingProtocols
	}
	begun := r.begin(readAsked(body, r.salt), identity(req, r.near.RemoteAddr(), r.salt), asked.At)
	res := &client.Result{}
	res.Reset(begun.epoch)
	res.Sent = asked.At.Sub(begun.epoch)
	resp, err := answerTo(req, down)
	if err != nil {
		res.Fail(time.Since(begun.epoch), client.ClassReset, "")
		r.ended(begun, r.cancelled(res, err), dialect)
		return r.lost(err)
	}
	observer := r.observers[dialect.Name()]
	if observer == nil {
		observer = client.NewObserver(dialect)
		r.observers[dialect.Name()] = observer
	}
	observer.Read(resp, r.down.arrived, res)
	if !r.Check {
		res.ReadDelay.Max += asked.Delay
	}
	_, err = io.Copy(io.Discard, resp.Body)
	r.ended(begun, r.cancelled(res, err), dialect)
	return err == nil && !resp.Close && !req.Close
}

// cancelled returns the result of an answer that was cut by err; nil for one that HTTP says is whole. It is incomplete, and no failure, where the client
// left before the answer ended.
func (r *reader) cancelled(res *client.Result, err error) *client.Result {
	end := r.down.arrived().At
	if err != nil {
		end = r.down.endedAt()
	}
	cut := res.Class == client.ClassReset || res.Class == client.ClassTruncated
	if left := r.left.Load(); cut && left != nil && !left.After(end) {
		res.Status, res.Class = client.StatusIncomplete, ""
	}
	return res
}

// lost counts a connection whose rest is not read, and returns false. The end of a connection between two requests is none.
func (r *reader) lost(err error) bool {
	var broken interface{ Timeout() bool } // of the network
	if err != io.EOF && !errors.As(err, &broken) {
		r.count(func(c *Counts) { c.Unread++ })
	}
	return false
}

// answerTo reads the head of the answer to a request. Interim answers are skipped.
func answerTo(req *http.Request, down *bufio.Reader) (*http.Response, error) {
	for {
		resp, err := http.ReadResponse(down, req)
		if err != nil || resp.StatusCode >= 200 || resp.StatusCode == http.StatusSwitchingProtocols {
			return resp, err
		}
	}
}

// dialectOf returns the API that a request is for; nil where it asks for no answer of a model.
func dialectOf(req *http.Request, body []byte) api.Dialect {
	if req.Method != http.MethodPost {
		return nil
	}
	if strings.HasSuffix(req.URL.Path, "/generate") { // the path of two APIs
		name := "lmdeploy"
		if gjson.GetBytes(body, "sampling_params").Exists() {
			name = "sglang"
		}
		d, _ := api.DialectsByName(name)
		return d
	}
	for _, name := range api.Names() {
		d, err := api.DialectsByName(name)
		if err == nil && strings.HasSuffix(req.URL.Path, d.Path("")) {
			return d
		}
	}
	return nil
}

// finishes are the finish reasons that are kept. Others may hold anything.
var finishes = map[string]bool{
	"stop": true, "length": true, "tool_calls": true, "function_call": true, "content_filter": true, "end_turn": true, "max_tokens": true,
	"stop_sequence": true, "tool_use": true, "eos_token": true, "eos": true, "limit": true, "abort": true, "completed": true, "incomplete": true,
}

// recordOf returns the record of a request that has ended, without any text of server or client.
func recordOf(b *begun, res *client.Result) *rundir.Record {
	if !finishes[res.Finish] && res.Finish != "" {
		res.Finish = "other"
	}
	res.Message = ""
	return load.Passed(b.stage, b.session.id, b.session.turn, b.most, res, time.Since(b.epoch))
}
