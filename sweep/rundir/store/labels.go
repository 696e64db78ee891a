package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"llmsweep/sweep/rundir"

	"github.com/tidwall/gjson"
)

// ParseLabels reads labels written as key=value.
func ParseLabels(texts []string) (l rundir.Labels, err error) {
	return l, setLabels(&l, texts)
}

// LabelTexts returns labels as key=value, those that are set. A value with blanks stands in quotes, as a shell wants
// it.
func LabelTexts(l rundir.Labels) []string {
	var texts []string
	add := func(key, value string) {
		if strings.ContainsAny(value, " \t'\"$\\") {
			value = strconv.Quote(value)
		}
		if value != "" {
			texts = append(texts, key+"="+value)
		}
	}
	add("model", l.Model)
	add("gpu", l.GPU)
	if l.GPUs > 0 {
		add("gpus", strconv.Itoa(l.GPUs))
	}
	add("engine", l.Engine)
	add("quant", l.Quant)
	if l.Price > 0 {
		add("price", strconv.FormatFloat(l.Price, 'f', -1, 64))
	}
	for _, key := range l.FreeKeys() {
		add(key, l.Free[key])
	}
	return texts
}

// setLabels changes the labels that texts name, each written as key=value. An empty value removes the label.
func setLabels(l *rundir.Labels, texts []string) error {
	for _, text := range texts {
		key, value, ok := strings.Cut(text, "=")
		if !ok {
			return fmt.Errorf("label %q: write key=value, such as gpu=L20", text)
		}
		value = strings.TrimSpace(value)
		var err error
		key = strings.TrimSpace(key)
		switch key {
		case "model":
			l.Model = value
		case "gpu":
			l.GPU = value
		case "gpus":
			l.GPUs = 0
			if value == "" {
				break
			}
			if l.GPUs, err = strconv.Atoi(value); err != nil || l.GPUs < 1 {
				return fmt.Errorf("label gpus=%s: write the number of GPUs, such as gpus=2", value)
			}
		case "engine":
			l.Engine = value
		case "quant":
			l.Quant = value
		case "price":
			l.Price = 0
			if value == "" {
				break
			}
			if l.Price, err = strconv.ParseFloat(value, 64); err != nil || !(l.Price >= 0) || l.Price > maxPrice {
				return fmt.Errorf("label price=%s: write the price of one GPU for one hour, such as price=1.2", value)
			}
		default:
			if !freeKey.MatchString(key) {
				return fmt.Errorf("label %q: write its name in lower case letters, such as router=Rust", key)
			}
			l.Free = maps.Clone(l.Free) // others share it
			if l.Free == nil {
				l.Free = map[string]string{}
			}
			l.Free[key] = value
			if value == "" {
				delete(l.Free, key)
			}
		}
	}
	return nil
}

// freeKey matches the names of [rundir.Labels].Free.
var freeKey = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,31}$`)

// maxPrice is per GPU-hour, in any currency.
const maxPrice = 1e9

// replaceLabels returns run.json with other labels. Everything else stays byte for byte, also what this version does
// not know.
func replaceLabels(run []byte, labels rundir.Labels) ([]byte, error) {
	old := gjson.GetBytes(run, "labels")
	if !old.IsObject() || old.Index == 0 {
		return nil, errors.New("no labels in it")
	}
	text, err := json.MarshalIndent(labels, "  ", "  ")
	if err != nil {
		return nil, err
	}
	return bytes.Join([][]byte{run[:old.Index], text, run[old.Index+len(old.Raw):]}, nil), nil
}

// ChangeLabels changes the labels of a run directory, whole or not at all, and returns what they are now.
func ChangeLabels(dir *Dir, now rundir.Labels, texts []string) (rundir.Labels, error) {
	if err := setLabels(&now, texts); err != nil {
		return now, err
	}
	path := filepath.Join(dir.Path, rundir.RunFile)
	b, err := os.ReadFile(path)
	if err != nil {
		return now, err
	}
	if b, err = replaceLabels(b, now); err != nil {
		return now, fmt.Errorf("%s: %w", path, err)
	}
	return now, dir.WriteFile(rundir.RunFile, b)
}
