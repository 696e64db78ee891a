package simtest

import (
	"strings"
	"testing"
)

// TestEachFormOfARecordIsChecked tests that a line that does not follow the schema is found among many of another form.
func TestEachFormOfARecordIsChecked(t *testing.T) {
	good := strings.Repeat(`{"stage":"a\"1","seq":12,"turn":0,"status":"ok","due":0.25,"http":200,"gaps_us":[5,310,4]}`+
		"\n", 50)
	for _, bad := range []string{
		`{"stage":"a\"1","seq":12,"turn":0,"status":"ok","due":0.25,"http":200.5,"gaps_us":[5,310,4]}`,
		`{"stage":"a\"1","seq":12,"turn":0,"status":"ok","due":"0.25","http":200,"gaps_us":[5,310,4]}`,
		`{"stage":"a\"1","seq":12,"turn":0,"status":"ok","due":0.25,"http":200,"gaps_us":[5,31,0.5,4]}`,
		`{"stage":1,"seq":12,"turn":0,"status":"ok","due":0.25,"http":200,"gaps_us":[5,310,4]}`,
		`{"seq":12,"turn":0,"status":"ok","due":0.25,"http":200,"gaps_us":[5,310,4]}`,
		`{"stage":"a\"1","seq":12,"turn":0,"status":"ok","due":0.25,"http":020,"gaps_us":[5,310,4]}`,
	} {
		if line, err := checkRecords([]byte(good + bad + "\n" + good)); err == nil || line != 51 {
			t.Errorf("%s: line %d, %v", bad, line, err)
		}
	}
	if line, err := checkRecords([]byte(good + `{"stage":"cut o`)); err != nil || line != 0 {
		t.Errorf("a last line that was cut off: line %d, %v", line, err)
	}
}
